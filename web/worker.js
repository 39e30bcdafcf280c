// Runs Python beside the page: starts it, starts the module that this worker is named after, and calls what its `start`
// gives for each question.

import "./replay.js"; // webq8's own, since this site's policy forbids it to evaluate text
import { startPython } from "./python.js";

const PYODIDE = "0.27.7";
const FILES = { app: ["models/classifier.pte", "models/upscaler.pte", "models/digits.npz"] }; // that a module fetches
const DOWNLOAD = 16e6; // bytes, roughly: servers that compress do not announce the size
const DOWNLOAD_SHARE = 0.7; // of the progress bar; the rest is models and shaders

const base = new URL(".", self.location).href;
let python, app;
let ready = false;
let received = 0;
let progress = { stage: "Python runtime", fraction: 0 };

function show(stage, started = 0, detail = "") {
  const done = DOWNLOAD_SHARE * Math.min(1, received / DOWNLOAD) + (1 - DOWNLOAD_SHARE) * started;
  progress = { stage, detail, fraction: Math.max(progress.fraction, done) };
  postMessage({ progress });
}

function problem(kind, message) {
  return Object.assign(new Error(message), { kind });
}

// Pyodide and webq8 fetch for themselves. Pyodide does not tell how far it is, and waits for ever where its wasm is
// missing: so until all is there, every fetch counts its bytes, and the first that fails ends the start.
let giveUp;
const failedDownload = new Promise((_, reject) => (giveUp = reject));
const plainFetch = self.fetch;

async function countedFetch(resource, options) {
  const name = String(resource.url ?? resource).replace(base, "");
  try {
    const response = await plainFetch(resource, options);
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const counted = new TransformStream({
      transform(chunk, controller) {
        received += chunk.byteLength;
        show(progress.stage);
        controller.enqueue(chunk);
      },
    });
    response.body.pipeTo(counted.writable).catch((cause) => giveUp(problem("Download", `${name}: ${cause.message}`)));
    return new Response(counted.readable, response);
  } catch (cause) {
    giveUp(problem("Download", `${name}: ${cause.message}`));
    throw cause;
  }
}

async function start() {
  if (!self.isSecureContext) throw problem("Insecure");
  if (!navigator.gpu) throw problem("NoWebGPU");
  self.fetch = countedFetch;

  // These download while Python starts. Files only warm the browser's cache: the module fetches them by name.
  const source = fetch(`${self.name}.py`).then((response) => response.text());
  const files = Promise.all((FILES[self.name] ?? []).map(async (path) => (await fetch(path)).arrayBuffer()));

  python = await startPython(PYODIDE, { onStage: (stage) => show(stage) }).catch((cause) => {
    throw problem(cause.kind ?? "Python", cause.message);
  });
  show("models and shaders");
  python.FS.writeFile(`${self.name}.py`, await source);
  const module = python.pyimport(self.name); // numpy and webq8 take their time: files may still be on their way
  await files;
  app = await module.start((fraction, message) => {
    if (ready) postMessage({ doing: message });
    else show("models and shaders", fraction, message);
  });
  self.fetch = plainFetch;
  ready = true;
  postMessage({ ready: plain(app.about()) });
}

async function answer({ id, method, args }) {
  try {
    postMessage({ id, result: plain(await app[method](...args)) });
  } catch (error) {
    report(error, id);
  }
}

function plain(proxy) {
  if (!(proxy instanceof python.ffi.PyProxy)) return proxy;
  const value = proxy.toJs({ dict_converter: Object.fromEntries });
  proxy.destroy();
  return value;
}

// What crosses from Python is a traceback; a visitor wants the exception alone, which Python still has.
function report(error, id) {
  const fromPython = python && error instanceof python.ffi.PythonError;
  const kind = fromPython ? error.type : error.kind;
  const message = fromPython ? python.runPython("import sys; str(sys.last_value)") : error.message;
  postMessage({ id, error: { kind, message } });
}

self.onunhandledrejection = ({ reason }) => report(reason);
self.onmessage = ({ data }) => answer(data);
Promise.race([start(), failedDownload]).catch(report);
