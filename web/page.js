// The page's side: loading, drawing, choosing, and showing what the worker answers.

import { showError } from "./problem.js";

const PAD = 512; // the pad's size in its own pixels
const PEN = 40;
const INK = 256; // the side of the drawing that is sent, 32 × 32 for each pixel of a scan
const PIXEL = INK / 8;
const SCAN_INK = 19.5 * PIXEL * PIXEL; // the scans hold about this much ink each, whatever the digit

const $ = (id) => document.getElementById(id);
const pen = $("pad").getContext("2d");
const worker = startWorker(new URL("worker.js", import.meta.url).href);

let labels = [];
let strokes = []; // each a list of [x, y]

// The worker

// A site may ask for trusted types: then this one address is a trusted one.
function startWorker(address) {
  try {
    const policy = globalThis.trustedTypes?.createPolicy("webq8", { createScriptURL: () => address });
    return new Worker(policy?.createScriptURL(address) ?? address, { type: "module" });
  } catch (cause) {
    throw Object.assign(cause, { kind: "Policy" });
  }
}

worker.onmessage = ({ data: { progress, ready, result, error } }) => {
  if (progress) showProgress(progress);
  if (ready) showReady(ready);
  if (result) answered(result);
  if (error) fail(error);
};
worker.onerror = (event) => {
  fail({ kind: "Python", message: event.message ?? "The worker that runs it could not be loaded." });
};

function fail(error) {
  worker.terminate();
  showError(error);
}

// One question at a time: while the worker is busy only the newest waits, so that drawing never falls behind.
let busy = false;
let stale = false;
let waiting = null;

function ask(question) {
  if (busy) {
    waiting = question;
  } else {
    setBusy(true);
    worker.postMessage(question());
  }
}

function setBusy(value) {
  busy = value;
  $("scores").ariaBusy = String(value);
}

function answered(result) {
  setBusy(false);
  if (!stale) showResult(result);
  stale = false;
  const next = waiting;
  waiting = null;
  if (next) ask(next);
}

// Status

function showProgress({ stage, detail, fraction }) {
  setText($("stage"), stage);
  $("stage-detail").textContent = detail;
  $("progress").value = fraction;
}

function showReady({ adapter, software, images, labels: truth }) {
  labels = truth;
  $("progress").value = 1;
  $("adapter").textContent = adapter;
  $("software").hidden = !software;
  $("loading").hidden = true;
  $("ready").hidden = false;
  $("demo").inert = false;
  $("scans").append(...images.map(scanChoice));
  $("scans").querySelector("input").click();
}

// Results

const rows = Array.from({ length: 10 }, (_, digit) => {
  const row = document.createElement("li");
  row.append(span("digit", digit), span("bar"), span("percent"));
  return row;
});
$("scores").append(...rows);

function span(className, textContent = "") {
  return Object.assign(document.createElement("span"), { className, textContent });
}

function showResult({ pick, digit, scores, upscale, classifier, upscaler }) {
  const top = scores.indexOf(Math.max(...scores));
  rows.forEach((row, i) => {
    row.classList.toggle("top", i === top);
    row.style.setProperty("--score", scores[i]);
    row.lastChild.textContent = `${(scores[i] * 100).toFixed(1)} %`;
  });
  paint($("scan"), digit);
  paint($("upscale"), upscale);
  say(`It reads a ${top}`, pick === undefined ? "" : `This scan is labelled ${labels[pick]}`);
  $("classifier-cost").textContent = cost(classifier);
  $("upscaler-cost").textContent = cost(upscaler);
}

function showNothing() {
  for (const row of rows) {
    row.classList.remove("top");
    row.style.removeProperty("--score");
    row.lastChild.textContent = "";
  }
  paint($("scan"), []);
  paint($("upscale"), []);
  say("Draw a digit, or pick a scan");
  $("classifier-cost").textContent = "";
  $("upscaler-cost").textContent = "";
}

function say(text, truth = "") {
  setText($("answer"), text);
  $("truth").textContent = truth || "\u00a0";
}

function cost({ ms, dispatches }) {
  return `${ms.toFixed(1)} ms, ${dispatches} dispatch${dispatches === 1 ? "" : "es"}`;
}

// Shades are 0 to 1 and become the opacity of black.
function paint(canvas, shades) {
  const image = new ImageData(canvas.width, canvas.height);
  shades.forEach((shade, i) => (image.data[4 * i + 3] = 255 * shade));
  canvas.getContext("2d").putImageData(image, 0, 0);
}

// Picking a scan

function scanChoice(pixels, index) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  const canvas = document.createElement("canvas");
  Object.assign(input, { type: "radio", name: "scan", ariaLabel: `Scan ${index + 1}, a ${labels[index]}` });
  Object.assign(canvas, { width: 8, height: 8, className: "pixels" });
  paint(canvas, Array.from(pixels, (pixel) => pixel / 16));
  input.onchange = () => {
    strokes = [];
    showStrokes();
    ask(() => ({ pick: index }));
  };
  label.append(input, canvas);
  return label;
}

function unpick() {
  const input = $("scans").querySelector(":checked");
  if (input) input.checked = false;
}

// Drawing

$("pad").onpointerdown = (event) => {
  if (event.button !== 0 || !event.isPrimary) return;
  event.preventDefault();
  $("pad").setPointerCapture(event.pointerId);
  unpick();
  strokes.push([]);
  extendStroke(event);
};

$("pad").onpointermove = (event) => {
  if (strokes.length && $("pad").hasPointerCapture(event.pointerId)) extendStroke(event);
};

$("clear").onclick = () => {
  unpick();
  strokes = [];
  waiting = null;
  stale = busy;
  showStrokes();
  showNothing();
};

function extendStroke(event) {
  const scale = PAD / $("pad").clientWidth;
  strokes.at(-1).push([event.offsetX * scale, event.offsetY * scale]);
  showStrokes();
  ask(() => ({ draw: asScanned(strokes) }));
}

function showStrokes() {
  $("hint").hidden = strokes.length > 0;
  drawStrokes(pen, strokes, PEN);
}

function drawStrokes(context, strokes, lineWidth) {
  context.clearRect(0, 0, PAD, PAD);
  context.lineWidth = lineWidth;
  context.lineCap = context.lineJoin = "round";
  context.beginPath();
  for (const [first, ...rest] of strokes) {
    context.moveTo(...first);
    for (const point of [first, ...rest]) context.lineTo(...point);
  }
  context.stroke();
}

// The strokes as the data set's scans are: in the middle, as large as the box, and with as much ink.
function asScanned(strokes) {
  const points = strokes.flat();
  const [left, right] = range(points.map(([x]) => x));
  const [top, bottom] = range(points.map(([, y]) => y));
  const size = Math.max(right - left, bottom - top, PEN); // a dot stays a dot
  const length = strokes.reduce((sum, stroke) => sum + lengthOf(stroke), 0);

  let line = 1.5 * PIXEL;
  line = Math.min(2.4 * PIXEL, Math.max(PIXEL, (SCAN_INK * size) / (length * (INK - line))));
  const scale = (INK - line) / size;

  const context = new OffscreenCanvas(INK, INK).getContext("2d", { willReadFrequently: true });
  context.translate(INK / 2, INK / 2);
  context.scale(scale, scale);
  context.translate(-(left + right) / 2, -(top + bottom) / 2);
  drawStrokes(context, strokes, line / scale);
  return context.getImageData(0, 0, INK, INK).data.filter((_, i) => i % 4 === 3);
}

function range(values) {
  return [Math.min(...values), Math.max(...values)];
}

function lengthOf(stroke) {
  return stroke.slice(1).reduce((sum, [x, y], i) => sum + Math.hypot(x - stroke[i][0], y - stroke[i][1]), 0);
}

// A live region is read out whenever it is set, even to what it says already.
function setText(region, text) {
  if (region.textContent !== text) region.textContent = text;
}
