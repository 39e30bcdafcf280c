// Opens a fresh frame for each way to run MobileNetV2, one after another, so that each starts as a page of its own does.
// ?frames=a,b,… chooses among them; ?samples=20&warm=400&batch=15 are the least number of samples, milliseconds of the
// same work before them, and milliseconds that a batch of runs takes; ?limit=60 is how many seconds a frame may take.

const THREADS = Math.min(8, navigator.hardwareConcurrency);
const { frames, limit = 60, ...timing } = Object.fromEntries(new URLSearchParams(location.search));
const FRAMES = {
  "webq8 int8": { peer: "webq8" },
  "ort float32": { build: "webgpu", provider: "webgpu", model: "float32" },
  "ort float32 jspi": { build: "jspi", provider: "webgpu", model: "float32" },
  "ort float32 jspi captured": { build: "jspi", provider: "webgpu", model: "float32", capture: 1 },
  "ort int8": { build: "webgpu", provider: "webgpu", model: "int8" },
  "ort int8 jspi": { build: "jspi", provider: "webgpu", model: "int8" },
  "ort float32 wasm 1": { build: "jspi", provider: "wasm", model: "float32", threads: 1 },
  [`ort float32 wasm ${THREADS}`]: { build: "jspi", provider: "wasm", model: "float32", threads: THREADS },
  "ort int8 wasm 1": { build: "jspi", provider: "wasm", model: "int8", threads: 1 },
  [`ort int8 wasm ${THREADS}`]: { build: "jspi", provider: "wasm", model: "int8", threads: THREADS },
};

function measure(options) {
  const frame = document.createElement("iframe");
  const answer = new Promise((resolve) => {
    addEventListener("message", function heard({ source, data }) {
      if (source !== frame.contentWindow) return;
      removeEventListener("message", heard);
      resolve(data);
    });
    setTimeout(() => resolve({ error: `no answer within ${limit} s` }), limit * 1000);
  });
  frame.src = `frame.html?${new URLSearchParams(options)}`;
  document.body.append(frame);
  return answer.finally(() => frame.remove());
}

async function main() {
  const result = { isolated: crossOriginIsolated };
  for (const [name, options] of Object.entries(FRAMES)) {
    if (!frames || frames.split(",").includes(name)) result[name] = await measure({ peer: "ort", ...timing, ...options });
  }
  const { vendor, architecture, description } = (await navigator.gpu.requestAdapter()).info;
  return { adapter: [vendor, architecture, description].filter(Boolean).join(" "), ...result };
}

const result = await main().catch((error) => ({ error: `${error}` }));
await fetch("/result", { method: "POST", body: JSON.stringify(result) });
