// Everything that must not cost a crossing between Python and JavaScript a dispatch: buffers, and the loop that replays a
// plan. bridge.py evaluates it; a page whose Content-Security-Policy forbids that imports this file itself.
globalThis.webq8Replay ??= (() => {
  const counts = { buffers: 0, bytes: 0, submits: 0 };
  const FILTERS = ["validation", "out-of-memory", "internal"];
  const MOST_QUERIES = 4096; // of a query set, by the specification

  // Runs `work` within error scopes; resolves to its result, or rejects with the first GPU error.
  async function scoped(device, work) {
    for (const filter of FILTERS) device.pushErrorScope(filter);
    let result, thrown;
    try {
      result = work();
    } catch (error) {
      thrown = error;
    }
    const scopes = FILTERS.map(() => device.popErrorScope());
    const settled = await Promise.allSettled([result, ...scopes]);
    if (thrown) throw thrown;
    for (const { value } of settled.slice(1)) {
      if (value) throw new Error(`${value.constructor.name}: ${value.message}`);
    }
    if (settled[0].status === "rejected") throw settled[0].reason;
    return settled[0].value;
  }

  // `promise`, its error's text begun with what it is about.
  async function named(what, promise) {
    try {
      return await promise;
    } catch (error) {
      throw new Error(`${what}: ${error.message}`);
    }
  }

  // Rejects with `error`, or with that of the first of [name, work] which fails by itself, under its name.
  async function blame(device, works, error) {
    for (const [name, work] of works) await named(name, scoped(device, work));
    throw error;
  }

  // specs: arrays of size, usage and what the buffer is for, which stands in errors. The buffers are there at once and are
  // the caller's to destroy; `done` tells whether the device has room for them.
  function createBuffers(device, specs) {
    const buffers = [];
    const checks = specs.map(([size, usage, label]) => {
      const create = () => {
        buffers.push(device.createBuffer({ label, size, usage }));
        counts.buffers += 1;
        counts.bytes += size;
      };
      return named(`${label}, in a buffer of ${size.toLocaleString("en")} bytes`, scoped(device, create));
    });
    const done = Promise.all(checks);
    done.catch(() => {}); // it may be waited for later than it fails
    return { buffers, done };
  }

  function destroyBuffer(buffer) {
    counts.buffers -= 1;
    counts.bytes -= buffer.size;
    buffer.destroy();
  }

  // Python's memory: a function that calls `use` with the bytes of a Python buffer. Pyodide takes addresses for signed
  // numbers and makes no view above 2 GiB; those are made here. `locate(buffer, found)` calls `found(address, size)`;
  // `low` is a Python object with a buffer that lies at the very start.
  function memory(locate, low) {
    function viewAbove(source) {
      let place;
      locate(source, (...found) => (place = found));
      const view = low.getBuffer("u8"); // after `locate`, which may have the memory grow
      try {
        return new Uint8Array(view.data.buffer, ...place);
      } finally {
        view.release();
      }
    }
    return (source, use) => {
      let view;
      try {
        view = source.getBuffer("u8");
      } catch (error) {
        if (error instanceof RangeError) return use(viewAbove(source));
        throw error;
      }
      try {
        return use(view.data);
      } finally {
        view.release();
      }
    };
  }

  // What a Python buffer holds as JSON: Pyodide's own way with texts reads wrong ones above 2 GiB.
  function parse(memory, message) {
    return JSON.parse(memory(message, (bytes) => new TextDecoder().decode(bytes.slice())));
  }

  // Copies a typed array or an ArrayBuffer to `destination`, a Python buffer.
  function copy(memory, source, destination) {
    const { buffer, byteOffset, byteLength } = ArrayBuffer.isView(source) ? source : new Uint8Array(source);
    memory(destination, (bytes) => bytes.set(new Uint8Array(buffer, byteOffset, byteLength)));
  }

  // The next part of a stream. Python does not see it: Pyodide knows no typed arrays that it first meets above 2 GiB.
  async function next(reader) {
    const { done, value } = await reader.read();
    return { done, size: value?.length, copyTo: (memory, destination) => copy(memory, value, destination) };
  }

  // `bytes` are a multiple of 4.
  function write(device, buffer, offset, bytes) {
    if (bytes.length) device.queue.writeBuffer(buffer, offset, bytes);
  }

  // Chromium's GPU process looks for finished work when it gets a command, then 2 ms later, then every ms: a run of half a
  // ms would take 2.4. So while a run is young, the process gets a command that does nothing at every tick of the clock, as
  // long as the page has nothing better to do. Other browsers need no such thing, and may lack postTask.
  const YOUNG_MS = 2.5, TICK_MS = 0.1;
  let waiting = 0, nudgeUntil = 0, nudging = false;

  async function nudge(device) {
    nudging = true;
    for (let last = performance.now(); waiting && last < nudgeUntil; ) {
      await scheduler.postTask(() => {}, { priority: "background" });
      if (!waiting || performance.now() < last + TICK_MS) continue;
      last = performance.now();
      device.queue.onSubmittedWorkDone().catch(() => {}); // a loss is told by what is waited for
    }
    nudging = false;
  }

  // The result of `promise`, which settles when work on the device is done, as soon as it can be had.
  async function promptly(device, promise) {
    waiting += 1;
    nudgeUntil = performance.now() + YOUNG_MS;
    if (!nudging && globalThis.scheduler?.postTask) nudge(device);
    try {
      return await promise;
    } finally {
      waiting -= 1;
    }
  }

  // What belongs to a device: why it was lost, and what was made of a text or a name before.
  function watch(device) {
    const state = { lost: null, modules: new Map(), layouts: new Map() };
    device.lost.then((info) => (state.lost = `${info.reason}: ${info.message}`));
    return state;
  }

  function once(map, key, create) {
    if (!map.has(key)) map.set(key, create());
    return map.get(key);
  }

  // A pipeline of `code`, which `module` is a number for, with the overrides `constants`, its bindings laid out by
  // `entries`, which `layout` is a name for: those are what `message` holds.
  function pipeline(device, { modules, layouts }, memory, message) {
    const { label, module: number, code, constants, layout, entries } = parse(memory, message);
    return scoped(device, () => {
      const bindGroupLayouts = [once(layouts, layout, () => device.createBindGroupLayout({ label, entries }))];
      const module = once(modules, number, () => device.createShaderModule({ label, code }));
      const compute = { module, entryPoint: "main", constants };
      return device.createComputePipelineAsync({ label, layout: device.createPipelineLayout({ bindGroupLayouts }), compute });
    });
  }

  // What the browser tells of why a module does not compile: a line each, none where it does not tell.
  async function shaderErrors({ modules }, number) {
    try {
      const { messages } = await modules.get(number).getCompilationInfo();
      const errors = [...messages].filter(({ type }) => type === "error");
      return errors.map(({ lineNum, message }) => `  line ${lineNum}: ${message}`);
    } catch {
      return [];
    }
  }

  // groups: for each step and binding its number, buffer, offset and size; `message` holds each one's label and the name
  // of its layout
  async function bindGroups(device, { layouts }, memory, message, groups) {
    const names = parse(memory, message);
    const entry = ([binding, buffer, offset, size]) => ({ binding, resource: { buffer, offset, size } });
    const create = ([label, layout], i) =>
      device.createBindGroup({ label, layout: layouts.get(layout), entries: groups[i].map(entry) });
    try {
      return await scoped(device, () => names.map(create));
    } catch (error) {
      return blame(device, names.map((name, i) => [name[0], () => create(name, i)]), error);
    }
  }

  const stagingUsage = () => GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;

  // Copies a mapped buffer into `destination`, a Python buffer of no more bytes. It stays mapped.
  function readMapped(memory, buffer, destination) {
    memory(destination, (bytes) => bytes.set(new Uint8Array(buffer.getMappedRange(), 0, bytes.length)));
  }

  // Copies a GPU buffer into `destination`, a Python buffer of as many bytes.
  async function read(device, memory, nudged, buffer, destination) {
    const { buffers, done } = createBuffers(device, [[buffer.size, stagingUsage(), "a tensor to read"]]);
    try {
      const [staging] = buffers;
      const mapped = scoped(device, () => {
        const encoder = device.createCommandEncoder();
        encoder.copyBufferToBuffer(buffer, 0, staging, 0, buffer.size);
        device.queue.submit([encoder.finish()]);
        counts.submits += 1;
        return staging.mapAsync(GPUMapMode.READ);
      });
      mapped.catch(() => {}); // it is waited for second, so that a lack of memory is told as such
      await done;
      await (nudged ? promptly(device, mapped) : mapped);
      readMapped(memory, staging, destination);
    } finally {
      buffers.forEach(destroyBuffer);
    }
  }

  class Replay {
    // steps: arrays of equal length, grids three numbers a step, `ends` of submits as in ir.plan.Plan; inputs and outputs:
    // arrays of [buffer, offset, size]; states: arrays of a buffer that keeps a value between runs, and two such pieces,
    // where a run finds the value and where it leaves the next; memory: Python's; nudged: whether the device is to be
    // asked for finished work
    constructor(device, memory, nudged, pipelines, groups, grids, ends, inputs, outputs, states) {
      Object.assign(this, { device, memory, nudged, pipelines, groups, grids, ends, inputs, outputs, states });
      this.size = Math.max(16, outputs.reduce((sum, [, , size]) => sum + size, 0));
      this.idle = []; // staging buffers not in use, still mapped: overlapping runs each need one
      this.turn = Promise.resolve(); // the end of the last run that takes several submits
      this.closed = false;
    }

    encode(pass, first = 0, end = this.pipelines.length) {
      const { pipelines, groups, grids } = this;
      let bound = null;
      for (let i = first, g = 3 * first; i < end; i++, g += 3) {
        if (pipelines[i] !== bound) pass.setPipeline((bound = pipelines[i]));
        pass.setBindGroup(0, groups[i]);
        pass.dispatchWorkgroups(grids[g], grids[g + 1], grids[g + 2]);
      }
    }

    // Nanoseconds of the encoding loop alone, a dispatch.
    encodingTime(repeats) {
      const encoder = this.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      const start = performance.now();
      for (let i = 0; i < repeats; i++) this.encode(pass);
      const elapsed = performance.now() - start;
      pass.end();
      encoder.finish();
      return (elapsed * 1e6) / (repeats * this.pipelines.length);
    }

    // Milliseconds of one replay on the device, when `repeats` of them run back to back in one pass.
    async time(repeats) {
      const encoder = this.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      for (let i = 0; i < repeats; i++) this.encode(pass);
      pass.end();
      const commands = encoder.finish();
      const start = performance.now();
      this.device.queue.submit([commands]);
      await this.device.queue.onSubmittedWorkDone();
      return (performance.now() - start) / repeats;
    }

    // Calls `work` with what puts the sources, Python's or GPU buffers, where the first step reads them. They are taken now:
    // at once where one submit does it all. Runs of several share the activations, so they take turns.
    takeSources(sources, work) {
      const put = (encoder, source, i) => {
        const [buffer, offset, size] = this.inputs[i];
        if (source instanceof GPUBuffer) encoder.copyBufferToBuffer(source, 0, buffer, offset, size);
        else write(this.device, buffer, offset, source);
      };
      const taken = (source, use) => (source instanceof GPUBuffer ? use(source) : this.memory(source, use));
      const copied = (source) => (source instanceof GPUBuffer ? source : source.slice());
      const given = this.ends.length === 1 ? sources : sources.map((s) => taken(s, copied));
      const use = this.ends.length === 1 ? taken : (source, put) => put(source);
      return this.inTurn(() =>
        work((encoder) => {
          for (const [kept, [buffer, offset, size]] of this.states) encoder.copyBufferToBuffer(kept, 0, buffer, offset, size);
          given.forEach((s, i) => use(s, (source) => put(encoder, source, i)));
        }),
      );
    }

    // The promise of `work`, which is called now, or after all runs of several submits before it.
    inTurn(work) {
      if (this.ends.length === 1) return work();
      const result = this.turn.then(work);
      this.turn = result.catch(() => {});
      return result;
    }

    // Writes Python's buffers to the states. What fails is told by the next run.
    reset(...initials) {
      const copies = initials.map((source) => this.memory(source, (bytes) => bytes.slice()));
      const write = () => copies.forEach((bytes, i) => this.device.queue.writeBuffer(this.states[i][0], 0, bytes));
      this.inTurn(() => scoped(this.device, write)).catch(() => {});
    }

    // Submits all steps after `begin(encoder)`, as `encodeSteps(encoder, first, end)` encodes them; what
    // `encodeCopies(encoder)` copies to `staging`, if there is one, is mapped at the end. One submit and one await, where
    // the planner did not cut a long method into several: then each is waited for, so that none keeps the GPU process from
    // answering.
    async submit(begin, staging, encodeSteps, encodeCopies) {
      const { device, ends } = this;
      for (let i = 0, first = 0; i < ends.length; first = ends[i++]) {
        const done = scoped(device, () => {
          const encoder = device.createCommandEncoder();
          if (i === 0) begin(encoder);
          encodeSteps(encoder, first, ends[i]);
          const last = i === ends.length - 1;
          if (last) encodeCopies(encoder);
          device.queue.submit([encoder.finish()]);
          counts.submits += 1;
          return last ? staging?.mapAsync(GPUMapMode.READ) : device.queue.onSubmittedWorkDone();
        });
        await (this.nudged ? promptly(device, done) : done);
      }
    }

    // What is wrong, by the step that fails where it is encoded alone.
    blame(error) {
      const encodeAlone = (i) => {
        const encoder = this.device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        this.encode(pass, i, i + 1);
        pass.end();
        encoder.finish();
      };
      return blame(this.device, this.groups.map(({ label }, i) => [label, () => encodeAlone(i)]), error);
    }

    // One pass a submit. The outputs come one after another into `destination`, a Python buffer, and one each into the GPU
    // buffers `kept`; either may be left out.
    run(destination, kept, ...sources) {
      const buffers = kept && [...kept];
      return this.takeSources(sources, (putSources) => this.runNow(destination, buffers, putSources));
    }

    // A mapped buffer that was used before, or a new one; none where nothing is to be read.
    staging(destination) {
      if (!destination) return { buffers: [] };
      const used = this.idle.pop();
      return used ? { buffers: [used], used } : createBuffers(this.device, [[this.size, stagingUsage(), "the results"]]);
    }

    async runNow(destination, kept, putSources) {
      const { buffers, done, used } = this.staging(destination);
      const [staging] = buffers;
      const begin = (encoder) => {
        if (used) staging.unmap();
        putSources(encoder);
      };
      const encodeSteps = (encoder, first, end) => {
        const pass = encoder.beginComputePass();
        this.encode(pass, first, end);
        pass.end();
      };
      const encodeCopies = (encoder) => {
        let at = 0;
        for (const [i, [buffer, offset, size]] of this.outputs.entries()) {
          if (staging) encoder.copyBufferToBuffer(buffer, offset, staging, at, size);
          if (kept) encoder.copyBufferToBuffer(buffer, offset, kept[i], 0, size);
          at += size;
        }
        for (const [state, , [buffer, offset, size]] of this.states) encoder.copyBufferToBuffer(buffer, offset, state, 0, size);
      };
      try {
        const run = this.submit(begin, staging, encodeSteps, encodeCopies);
        run.catch(() => {}); // it is waited for second, so that a lack of memory is told as such
        await done;
        await run;
        if (staging) readMapped(this.memory, staging, destination);
      } catch (error) {
        buffers.forEach(destroyBuffer);
        return this.blame(error);
      }
      if (this.closed) buffers.forEach(destroyBuffer);
      else this.idle.push(...buffers);
    }

    // A run with a pass for each step, which gives no outputs and leaves no states: into `destination`, a Python buffer,
    // come the nanoseconds at which each step began and ended, as pairs of 64-bit integers.
    profile(destination, ...sources) {
      return this.takeSources(sources, (putSources) => this.profileNow(destination, putSources));
    }

    async profileNow(destination, putSources) {
      const { device } = this;
      const queries = 2 * this.pipelines.length;
      const usage = GPUBufferUsage;
      const sets = [];
      const held = [];
      try {
        await scoped(device, () => {
          for (let at = 0; at < queries; at += MOST_QUERIES) {
            sets.push(device.createQuerySet({ type: "timestamp", count: Math.min(MOST_QUERIES, queries - at) }));
          }
        });
        const size = Math.max(16, 8 * queries);
        const usages = [usage.QUERY_RESOLVE | usage.COPY_SRC, stagingUsage()];
        const { buffers, done } = createBuffers(device, usages.map((use) => [size, use, "the times of the steps"]));
        held.push(...buffers);
        await done;
        const [resolved, staging] = held;
        const encodeSteps = (encoder, first, end) => {
          for (let i = first; i < end; i++) {
            const at = (2 * i) % MOST_QUERIES;
            const querySet = sets[Math.floor((2 * i) / MOST_QUERIES)];
            const timestampWrites = { querySet, beginningOfPassWriteIndex: at, endOfPassWriteIndex: at + 1 };
            const pass = encoder.beginComputePass({ timestampWrites });
            this.encode(pass, i, i + 1);
            pass.end();
          }
        };
        const encodeCopies = (encoder) => {
          sets.forEach((set, i) => encoder.resolveQuerySet(set, 0, set.count, resolved, 8 * MOST_QUERIES * i));
          if (queries) encoder.copyBufferToBuffer(resolved, 0, staging, 0, 8 * queries);
        };
        await this.submit(putSources, staging, encodeSteps, encodeCopies);
        readMapped(this.memory, staging, destination);
      } catch (error) {
        return await this.blame(error);
      } finally {
        sets.forEach((set) => set.destroy());
        held.forEach(destroyBuffer);
      }
    }

    close() {
      this.closed = true;
      this.idle.splice(0).forEach(destroyBuffer);
    }
  }

  return {
    counts,
    answer: (device) => scoped(device, () => {}),
    copy,
    createBuffers: (device, memory, message) => createBuffers(device, parse(memory, message)),
    destroyBuffer,
    bindGroups,
    memory,
    next,
    pipeline,
    read,
    shaderErrors,
    watch,
    write: (device, memory, buffer, source) =>
      scoped(device, () => memory(source, (bytes) => write(device, buffer, 0, bytes))),
    replay: (...args) => new Replay(...args),
  };
})();
