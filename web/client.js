// The page's side of Python: starts the worker, shows how far its start is, and asks it questions.

import { showError } from "./problem.js";

const FATAL = ["NoAdapter", "DeviceLost"]; // after which nothing else can be asked

const $ = (id) => document.getElementById(id);
const asked = new Map(); // by number: how a question ends, well or badly
let worker;
let number = 0;

// Starts the Python of `name`.py. `onReady` is told what it says of itself besides its adapter, `onDoing` what goes on
// while it answers.
export function startPython(name, { onReady = () => {}, onDoing = () => {} } = {}) {
  worker = newWorker(new URL("worker.js", import.meta.url).href, name);
  worker.onmessage = ({ data: { progress, ready, doing, id, result, error } }) => {
    if (progress) showProgress(progress);
    if (ready) onReady(showReady(ready));
    if (doing) onDoing(doing);
    if (id === undefined) return error && fail(error);
    const [succeed, complain] = asked.get(id);
    asked.delete(id);
    if (!error) succeed(result);
    else if (FATAL.includes(error.kind)) fail(error);
    else complain(Object.assign(new Error(error.message), error));
  };
  worker.onerror = (event) => {
    fail({ kind: "Python", message: event.message ?? "The worker that runs it could not be loaded." });
  };
}

// Calls a method of what the Python of this page started; buffers are lent to it for good.
export function ask(method, args = [], buffers = []) {
  return new Promise((...ends) => {
    asked.set(++number, ends);
    worker.postMessage({ id: number, method, args }, buffers);
  });
}

// A site may ask for trusted types: then this one address is a trusted one.
function newWorker(address, name) {
  try {
    const policy = globalThis.trustedTypes?.createPolicy("webq8", { createScriptURL: () => address });
    return new Worker(policy?.createScriptURL(address) ?? address, { type: "module", name });
  } catch (cause) {
    throw Object.assign(cause, { kind: "Policy" });
  }
}

export function fail(error) {
  worker.terminate();
  showError(error);
}

function showProgress({ stage, detail, fraction }) {
  setText($("stage"), stage);
  $("stage-detail").textContent = detail;
  $("progress").value = fraction;
}

function showReady({ adapter, software, ...rest }) {
  $("progress").value = 1;
  $("adapter").textContent = adapter;
  $("software").hidden = !software;
  $("loading").hidden = true;
  $("ready").hidden = false;
  $("demo").inert = false;
  return rest;
}

// A live region is read out whenever it is set, even to what it says already.
export function setText(region, text) {
  if (region.textContent !== text) region.textContent = text;
}

// An element with properties, and what stands in it.
export function element(tag, properties = {}, ...content) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...content);
  return made;
}
