// Everything that must not cost a crossing between Python and JavaScript a dispatch: buffers, and the loop that replays a
// plan. gpu.py, its only caller, evaluates it; a page whose Content-Security-Policy forbids that imports this file itself.
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

  function createBuffer(device, size, usage) {
    const buffer = device.createBuffer({ size, usage });
    counts.buffers += 1;
    counts.bytes += size;
    return buffer;
  }

  function destroyBuffer(buffer) {
    counts.buffers -= 1;
    counts.bytes -= buffer.size;
    buffer.destroy();
  }

  // `source` is a Python object with a buffer of a multiple of 4 bytes: written from Python's memory without a copy here.
  function write(device, buffer, offset, source) {
    const view = source.getBuffer("u8");
    try {
      if (view.data.length) device.queue.writeBuffer(buffer, offset, view.data);
    } finally {
      view.release();
    }
  }

  // Copies a mapped buffer into `destination`, a Python buffer of no more bytes.
  function readMapped(buffer, destination) {
    const view = destination.getBuffer("u8");
    try {
      view.data.set(new Uint8Array(buffer.getMappedRange(), 0, view.data.length));
    } finally {
      view.release();
    }
    buffer.unmap();
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

  // steps: arrays of label, layout, and for each binding its number, buffer, offset and size
  function bindGroups(device, steps) {
    const entry = ([binding, buffer, offset, size]) => ({ binding, resource: { buffer, offset, size } });
    return steps.map(([label, layout, slots]) => device.createBindGroup({ label, layout, entries: slots.map(entry) }));
  }

  class Replay {
    // steps: arrays of equal length, grids three numbers a step, `ends` of submits as in ir.Plan; inputs and outputs:
    // arrays of [buffer, offset, size]; software: the CPU computes, and has better to do than to nudge
    constructor(device, software, pipelines, groups, grids, ends, inputs, outputs) {
      Object.assign(this, { device, software, pipelines, groups, grids, ends, inputs, outputs });
      this.size = Math.max(16, outputs.reduce((sum, [, , size]) => sum + size, 0));
      this.idle = []; // staging buffers not in use: overlapping runs each need one
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
    async deviceTime(repeats) {
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

    // Runs `work` at once where one submit does it all. Runs of several share the activations, so they take turns.
    inTurn(work) {
      if (this.ends.length === 1) return work();
      const result = this.turn.then(work);
      this.turn = result.catch(() => {});
      return result;
    }

    // Writes the sources and submits all steps, as `encodeSteps(encoder, first, end)` encodes them; what
    // `encodeCopies(encoder)` copies to `staging` is mapped at the end. One submit and one await, where plan.py did not
    // cut a long method into several: then each is waited for, so that none keeps the GPU process from answering.
    async submit(sources, staging, encodeSteps, encodeCopies) {
      const { device, ends } = this;
      for (let i = 0, first = 0; i < ends.length; first = ends[i++]) {
        const done = scoped(device, () => {
          if (i === 0) sources.forEach((source, j) => write(device, this.inputs[j][0], this.inputs[j][1], source));
          const encoder = device.createCommandEncoder();
          encodeSteps(encoder, first, ends[i]);
          const last = i === ends.length - 1;
          if (last) encodeCopies(encoder);
          device.queue.submit([encoder.finish()]);
          counts.submits += 1;
          return last ? staging.mapAsync(GPUMapMode.READ) : device.queue.onSubmittedWorkDone();
        });
        await (this.software ? done : promptly(device, done));
      }
    }

    // One pass a submit. The outputs come one after another into `destination`, a Python buffer.
    run(destination, ...sources) {
      return this.inTurn(() => this.runNow(destination, sources));
    }

    async runNow(destination, sources) {
      const { device } = this;
      const staging = this.idle.pop() ?? createBuffer(device, this.size, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
      const encodeSteps = (encoder, first, end) => {
        const pass = encoder.beginComputePass();
        this.encode(pass, first, end);
        pass.end();
      };
      const encodeCopies = (encoder) => {
        let at = 0;
        for (const [buffer, offset, size] of this.outputs) {
          if (size) encoder.copyBufferToBuffer(buffer, offset, staging, at, size);
          at += size;
        }
      };
      try {
        await this.submit(sources, staging, encodeSteps, encodeCopies);
        readMapped(staging, destination);
      } catch (error) {
        destroyBuffer(staging);
        throw error;
      }
      if (this.closed) destroyBuffer(staging);
      else this.idle.push(staging);
    }

    // A run with a pass for each step and without outputs: into `destination`, a Python buffer, come the nanoseconds
    // at which each step began and ended, as pairs of 64-bit integers.
    profile(destination, ...sources) {
      return this.inTurn(() => this.profileNow(destination, sources));
    }

    async profileNow(destination, sources) {
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
          const size = Math.max(16, 8 * queries);
          held.push(createBuffer(device, size, usage.QUERY_RESOLVE | usage.COPY_SRC));
          held.push(createBuffer(device, size, usage.MAP_READ | usage.COPY_DST));
        });
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
        await this.submit(sources, staging, encodeSteps, encodeCopies);
        readMapped(staging, destination);
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
    createBuffer,
    destroyBuffer,
    bindGroups,
    write: (device, buffer, offset, source) => scoped(device, () => write(device, buffer, offset, source)),
    scoped,
    replay: (...args) => new Replay(...args),
    // flags shared with Python: callbacks only record
    watch(device) {
      const state = { lost: null };
      device.lost.then((info) => (state.lost = `${info.reason}: ${info.message}`));
      return state;
    },
  };
})();
