// The int8 MobileNetV2 in webq8.
import { Stages, median, medianOfBatches, options } from "./timing.js";
import { startPython } from "../python.js";
import "../replay.js";

const site = new URL("..", import.meta.url);
const MODEL = new URL("networks/mobilenet_v2.pte", site).href;
const get = async (path) => (await fetch(new URL(path, site))).arrayBuffer();

export async function measure() {
  const stages = new Stages("script");
  // These download while Python starts.
  const [source, golden] = ["peers/webq8_page.py", "networks/mobilenet_v2.npz"].map(get);
  const model = get(MODEL);

  const python = await startPython("0.27.7", { onStage: (stage) => stages.next(stage) });
  stages.next("import numpy");
  python.pyimport("numpy");
  stages.next("import webq8");
  python.pyimport("webq8");
  stages.next("rest of the downloads");
  python.FS.writeFile("webq8_page.py", new Uint8Array(await source));
  const network = python.pyimport("webq8_page").Network(await golden);
  await model; // it comes from the browser's cache now
  stages.next("load");
  await network.load(MODEL);
  stages.next("first run");
  const cosine = await network.cosine();
  stages.next("");
  const { replay, destination } = network;

  const backToBack = (runs) => {
    for (let i = 0; i < runs; i++) {
      const encoder = replay.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      replay.encode(pass);
      pass.end();
      replay.device.queue.submit([encoder.finish()]);
    }
    return replay.device.queue.onSubmittedWorkDone();
  };
  return {
    stages: stages.times,
    loading: network.load_ms.toJs({ dict_converter: Object.fromEntries }),
    cosine,
    "back to back": await medianOfBatches(backToBack),
    "back to back in one pass": await medianOfBatches((runs) => replay.time(runs)),
    latency: await median(() => replay.run(destination)),
    "array to array": await network.numpy_to_numpy(options.warm, options.samples),
  };
}
