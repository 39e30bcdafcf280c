// The first view: drawing, choosing, and showing what the models answer.

import { ask, element, setText, startPython } from "./client.js";

const PAD = 512; // the pad's size in its own pixels
const PEN = 40;
const INK = 256; // the side of the drawing that is sent, 32 × 32 for each pixel of a scan
const PIXEL = INK / 8;
const SCAN_INK = 19.5 * PIXEL * PIXEL; // the scans hold about this much ink each, whatever the digit

const $ = (id) => document.getElementById(id);
const pen = $("pad").getContext("2d");
startPython("app", { onReady: showScans });

let labels = [];
let strokes = []; // each a list of [x, y]

// One question at a time: while Python is busy only the newest waits, so that drawing never falls behind.
let busy = false;
let stale = false;
let waiting = null;

async function askNewest(question) {
  if (busy) {
    waiting = question;
    return;
  }
  setBusy(true);
  const result = await question();
  setBusy(false);
  if (!stale) showResult(result);
  stale = false;
  const next = waiting;
  waiting = null;
  if (next) askNewest(next);
}

function setBusy(value) {
  busy = value;
  $("scores").ariaBusy = String(value);
}

// Results

const rows = Array.from({ length: 10 }, (_, digit) => {
  return element("li", {}, span("digit", digit), span("bar"), span("percent"));
});
$("scores").append(...rows);

function span(className, textContent = "") {
  return element("span", { className, textContent });
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

function showScans({ images, labels: truth }) {
  labels = truth;
  $("scans").append(...images.map(scanChoice));
  $("scans").querySelector("input").click();
}

function scanChoice(pixels, index) {
  const input = element("input", { type: "radio", name: "scan", ariaLabel: `Scan ${index + 1}, a ${labels[index]}` });
  const canvas = element("canvas", { width: 8, height: 8, className: "pixels" });
  paint(canvas, Array.from(pixels, (pixel) => pixel / 16));
  input.onchange = () => {
    strokes = [];
    showStrokes();
    askNewest(async () => ({ pick: index, ...(await ask("pick", [index])) }));
  };
  return element("label", {}, input, canvas);
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
  askNewest(() => ask("draw", [asScanned(strokes)]));
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
