// MobileNetV2 in onnxruntime-web: build "webgpu" or "jspi", provider "webgpu" or "wasm", model "float32" or "int8".
import { Stages, median, medianOfBatches } from "./timing.js";

const SIZE = 224;
const CLASSES = 1000;

export async function measure({ build, provider, model, threads, capture }) {
  const stages = new Stages("script");
  const ort = await import(`./ort/ort.${build}.bundle.min.mjs`);
  if (threads) ort.env.wasm.numThreads = Number(threads);
  ort.env.webgpu.powerPreference = "high-performance";
  stages.next("session");

  const onGpu = provider === "webgpu";
  const session = await ort.InferenceSession.create(`mobilenet_v2_${model}.onnx`, {
    executionProviders: [provider],
    preferredOutputLocation: onGpu ? "gpu-buffer" : "cpu",
    enableGraphCapture: Boolean(capture),
  });
  stages.next("first run");

  const pixels = Float32Array.from({ length: 3 * SIZE * SIZE }, (_, i) => Math.sin(i % 4001));
  const given = new ort.Tensor("float32", pixels, [1, 3, SIZE, SIZE]);
  const device = onGpu && (await ort.env.webgpu.device);
  const x = onGpu ? tensorIn(ort, device, bufferOf(device, pixels), given.dims) : given;
  // A captured graph takes and gives the same buffers in every run.
  const kept = capture && bufferOf(device, new Float32Array(CLASSES));

  async function started(input) {
    const fetches = capture ? [{ y: tensorIn(ort, device, kept, [1, CLASSES]) }] : [];
    return (await session.run({ x: input }, ...fetches)).y;
  }

  async function answer(input) {
    const y = await started(input);
    const values = await y.getData();
    y.dispose();
    return values;
  }

  const values = await answer(capture ? x : given);
  stages.next("");

  const result = { stages: stages.times, values: [...values] };
  if (onGpu) {
    result["back to back"] = await medianOfBatches(async (runs) => {
      for (let i = 0; i < runs; i++) (await started(x)).dispose();
      await device.queue.onSubmittedWorkDone();
    });
    result.latency = await median(() => answer(x));
  }
  if (!capture) result["array to array"] = await median(() => answer(given));
  await session.release();
  return result;
}

function bufferOf(device, data) {
  const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
  const buffer = device.createBuffer({ size: data.byteLength, usage: STORAGE | COPY_SRC | COPY_DST });
  device.queue.writeBuffer(buffer, 0, data);
  return buffer;
}

// A float32 tensor whose values stay in that buffer until they are asked for.
function tensorIn(ort, device, buffer, dims) {
  async function download() {
    const { MAP_READ, COPY_DST } = GPUBufferUsage;
    const staging = device.createBuffer({ size: buffer.size, usage: MAP_READ | COPY_DST });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, staging, 0, buffer.size);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const values = new Float32Array(staging.getMappedRange().slice(0));
    staging.destroy();
    return values;
  }
  return ort.Tensor.fromGpuBuffer(buffer, { dataType: "float32", dims, download });
}
