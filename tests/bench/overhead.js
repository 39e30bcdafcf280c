// For overhead.py: notes when a run calls WebGPU, and replays a program's plan without Python.
globalThis.webq8Overhead = (() => {
  const at = {}; // method -> when its last call began

  function note(kind, name) {
    const method = kind.prototype[name];
    kind.prototype[name] = function (...args) {
      at[name] = performance.now();
      const result = method.apply(this, args);
      if (name === "mapAsync") {
        at.waiting = performance.now();
        result.then(() => (at.mapped = performance.now()));
      }
      return result;
    };
    return () => (kind.prototype[name] = method);
  }

  return {
    at,
    // Returns a function that ends the noting.
    watch() {
      const ends = [note(GPUDevice, "pushErrorScope"), note(GPUBuffer, "mapAsync")];
      return () => ends.forEach((end) => end());
    },
    // One run after another of what `replay` does, from an array to an array; milliseconds of a run, and those but the wait.
    async pure(replay, runs) {
      const { device } = replay;
      const inputs = replay.inputs.map(([buffer, offset, size]) => [buffer, offset, new Uint8Array(size)]);
      const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
      const staging = device.createBuffer({ size: replay.size, usage });
      const result = new Uint8Array(replay.size);
      let waited = 0;
      const start = performance.now();
      for (let i = 0; i < runs; i++) {
        for (const [buffer, offset, data] of inputs) device.queue.writeBuffer(buffer, offset, data);
        const encoder = device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        replay.encode(pass);
        pass.end();
        let to = 0;
        for (const [buffer, offset, size] of replay.outputs) {
          encoder.copyBufferToBuffer(buffer, offset, staging, to, size);
          to += size;
        }
        device.queue.submit([encoder.finish()]);
        const mapped = staging.mapAsync(GPUMapMode.READ);
        const waiting = performance.now();
        await mapped;
        waited += performance.now() - waiting;
        result.set(new Uint8Array(staging.getMappedRange()));
        staging.unmap();
      }
      const all = performance.now() - start;
      staging.destroy();
      return [all / runs, (all - waited) / runs];
    },
  };
})();
