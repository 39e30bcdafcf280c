// The second view: a model of the visitor's. What is in it, its inputs, a run, and its outputs.

import { ask, element, fail, setText, startPython } from "./client.js";
import { explain } from "./problem.js";

const EXAMPLE = "models/classifier.pte";
const FILE_TYPES = ".npy,.npz";

const $ = (id) => document.getElementById(id);
startPython("model", { onDoing: (text) => setText($("doing"), text) });

// One thing at a time: it is named while it goes on, and what is wrong with it is shown where it was asked for.
let busy = false;

async function doing(text, work) {
  if (busy) return;
  busy = $("demo").ariaBusy = true;
  $("trouble").hidden = true;
  setText($("doing"), text);
  try {
    await work();
  } catch (error) {
    if (error.kind === undefined) fail({ message: String(error) });
    else showTrouble(error);
  } finally {
    busy = $("demo").ariaBusy = false;
    setText($("doing"), "");
  }
}

function showTrouble({ kind, message }) {
  const [problem, advice] = explain(kind);
  const detail = element("pre", { tabIndex: 0, ariaLabel: "What Python said", textContent: message });
  $("trouble").replaceChildren(element("h2", {}, problem), element("p", {}, advice), detail);
  $("trouble").hidden = false;
  $("trouble").focus();
}

// Choosing a model

$("file").onchange = () => openFiles([...$("file").files]);
$("by-address").onsubmit = (event) => {
  event.preventDefault();
  fetchModel($("address").value);
};
$("example").onclick = () => {
  $("address").value = EXAMPLE;
  fetchModel(EXAMPLE);
};

function openFiles(files) {
  if (!files.length) return;
  doing("Reading the file", async () => {
    hideModel();
    const read = await Promise.all(files.map(async (file) => ({ name: file.name, data: await file.arrayBuffer() })));
    await showModel(await ask("open", [read], read.map(({ data }) => data)));
  });
}

function fetchModel(address) {
  doing("Fetching", async () => {
    hideModel();
    await showModel(await ask("fetch", [new URL(address, document.baseURI).href]).catch((error) => {
      throw error.kind === "InputError" ? Object.assign(error, { kind: "Address" }) : error;
    }));
  });
}

addEventListener("dragover", (event) => {
  event.preventDefault();
  $("drop").classList.add("over");
});
addEventListener("dragleave", () => $("drop").classList.remove("over"));
addEventListener("drop", (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  openFiles([...event.dataTransfer.files]);
});

// What is in it

let methods = {};

function hideModel() {
  for (const id of ["model", "call", "results", "times"]) $(id).hidden = true;
}

async function showModel(found) {
  $("sizes").hidden = !found.open;
  if (found.open) $("sizes-fields").replaceChildren(...sizeFields(found.open));
  await showFound(found);
}

async function showFound({ model, size, open, methods: found }) {
  $("model-name").textContent = model;
  $("model-about").textContent = `${size.toLocaleString("en")} bytes`;
  $("model").hidden = false;
  $("contents").hidden = Boolean(open);
  if (open) return;
  methods = found;
  const names = Object.keys(methods);
  $("method").replaceChildren(...names.map((name) => element("option", { value: name, textContent: name })));
  $("method").value = names.includes("forward") ? "forward" : names[0];
  $("method-choice").hidden = names.length < 2;
  await showMethod();
}

// A number for each symbol that the model leaves open, and a list of them for each input of which nothing is known.
function sizeFields({ symbols, inputs }) {
  const field = (name, properties) => element("label", {}, `${name} `, element("input", { name, required: true, ...properties }));
  return [
    ...symbols.map((name) => field(name, { type: "number", min: 0, value: 1 })),
    ...inputs.map((name) => field(name, { pattern: "[0-9, ]*", placeholder: "1, 3, 224, 224" })),
  ];
}

$("sizes").onsubmit = (event) => {
  event.preventDefault();
  const sizes = [...$("sizes-fields").querySelectorAll("input")].map(({ name, type, value }) => [
    name,
    type === "number" ? Number(value) : (value.match(/\d+/g) ?? []).map(Number),
  ]);
  doing("Reading the file", async () => {
    for (const id of ["call", "results", "times"]) $(id).hidden = true;
    await showFound(await ask("look", [new Map(sizes)]));
  });
};

$("method").onchange = () => doing("Loading", showMethod);

async function showMethod() {
  for (const id of ["call", "results", "times"]) $(id).hidden = true;
  const { inputs, outputs, runs, unsupported, states } = methods[$("method").value];
  $("specs").replaceChildren(...specs("Inputs", inputs), ...specs("Outputs", outputs));
  $("summary").replaceChildren(...summary(runs));
  $("ops").replaceChildren(...runs.map(opRow));
  $("reset").hidden = !states;
  if (unsupported.length) {
    const lines = unsupported.map(({ node, op, reason }) => [node, op, reason].filter(Boolean).join(": "));
    showTrouble({ kind: "Unsupported", message: lines.join("\n") });
    return;
  }
  setText($("doing"), "Loading");
  const { inputs: fields, load_ms } = await ask("load", [$("method").value]);
  $("model-about").textContent += `, loaded in ${load_ms.toFixed(0)} ms`;
  $("fields").replaceChildren(...fields.map(inputField));
  $("inputs-title").textContent = fields.length ? "Inputs" : "It takes no inputs";
  $("call").hidden = false;
}

function specs(title, tensors) {
  const lines = tensors.map(({ name, value, dtype, shape, scale, zero_point }) => {
    const q = zero_point > 0 ? `(q − ${zero_point})` : zero_point < 0 ? `(q + ${-zero_point})` : "q";
    const by = scale === undefined ? "" : `, which stands for ${q} · ${scale.toPrecision(6)}`;
    const text = dtype ? `${dtype} [${shape.join(", ")}]${by}` : JSON.stringify(value);
    return element("dd", {}, element("b", {}, name), ` ${text}`);
  });
  return [element("dt", {}, title), ...(lines.length ? lines : [element("dd", {}, "none")])];
}

function chip(runs, text = runs) {
  return element("span", { className: `chip ${runs.split(" ")[0]}`, textContent: text });
}

function summary(rows) {
  const counts = new Map();
  for (const { runs, count } of rows) counts.set(runs, (counts.get(runs) ?? 0) + count);
  return [...counts].map(([runs, count]) => element("li", {}, chip(runs, `${runs}: ${count}`)));
}

function opRow({ op, runs, reason, count, nodes }) {
  const places = element("details", {}, element("summary", {}, String(count)), element("small", {}, nodes.join(", ")));
  const why = reason ? [element("small", {}, reason)] : [];
  return element("tr", {}, element("td", {}, ...breakable(op)), element("td", {}, chip(runs), ...why), element("td", {}, places));
}

// A name that may be broken where its words end.
function breakable(name) {
  return name.split(/(?<=[._:/])/).flatMap((word) => [word, element("wbr")]);
}

// Inputs

let fields = []; // each gives its input to Python

function inputField({ name, text, frames, scales }, number) {
  if (number === 0) fields = [];
  const orders = Object.keys(frames);
  const kinds = { noise: "Noise", zeros: "Zeros", file: "File (.npy, .npz)", ...(orders.length && { image: "Image" }) };
  const kind = select("From", kinds, orders.length ? "image" : "noise");
  const file = element("input", { type: "file", ariaLabel: `File for ${name}` });
  const order = select("Layout", Object.fromEntries(orders.map((o) => [o, o])));
  const scale = select("Values", Object.fromEntries(scales.map((s) => [s, s])));
  const fit = select("Fit", { cover: "cut to fill", fill: "stretch" });
  const preview = element("canvas", { role: "img", ariaLabel: `The picture for ${name}`, hidden: true });
  const [kindChoice, orderChoice, scaleChoice, fitChoice] = [kind, order, scale, fit].map((choice) => choice.parentNode);

  const update = () => {
    const image = kind.value === "image";
    file.hidden = !(image || kind.value === "file");
    file.accept = image ? "image/*" : FILE_TYPES;
    for (const choice of [orderChoice, scaleChoice, fitChoice]) choice.hidden = !image;
    preview.hidden = !image || !file.files.length;
    if (!preview.hidden) return draw();
  };
  const draw = () => drawImage(preview, file.files[0], frames[order.value], fit.value);
  kind.onchange = () => {
    file.value = "";
    update();
  };
  for (const choice of [file, order, fit]) choice.onchange = () => doing("Reading the picture", async () => update());
  update();

  fields.push(async () => {
    if (file.hidden) return ask(kind.value, [name]);
    const [chosen] = file.files;
    if (!chosen) throw Object.assign(new Error(`Choose a file for ${name}, or take noise.`), { kind: "InputError" });
    if (kind.value === "file") return ask("file", [name, chosen.name, await chosen.arrayBuffer()]);
    const { data } = await draw();
    return ask("image", [name, data, order.value, scale.value]);
  });
  const legend = element("legend", {}, element("b", {}, name), ` ${text}`);
  return element("fieldset", {}, legend, element("div", {}, kindChoice, file, orderChoice, scaleChoice, fitChoice), preview);
}

function select(label, options, value) {
  const made = element("select", {}, ...Object.entries(options).map(([key, text]) => new Option(text, key)));
  if (value) made.value = value;
  element("label", {}, `${label} `, made);
  return made;
}

// A picture of the size that an input has, and its pixels.
async function drawImage(canvas, file, [height, width], fit) {
  let image;
  try {
    image = await createImageBitmap(file);
  } catch (cause) {
    throw Object.assign(new Error(`${file.name} is no picture that this browser reads: ${cause.message}`), { kind: "InputError" });
  }
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  const scale = Math.max(width / image.width, height / image.height);
  const [w, h] = fit === "cover" ? [image.width * scale, image.height * scale] : [width, height];
  context.drawImage(image, (width - w) / 2, (height - h) / 2, w, h);
  return context.getImageData(0, 0, width, height);
}

// Runs

let runsMs = [];

async function giveInputs() {
  for (const give of fields) await give();
}

$("inputs").onsubmit = (event) => {
  event.preventDefault();
  doing("Running", async () => {
    await giveInputs();
    showResults(await ask("run"));
  });
};

$("profile").onclick = () => doing("Measuring each dispatch", async () => {
  await giveInputs();
  showTimes(await ask("profile"));
});

$("reset").onclick = () => doing("Resetting", () => ask("reset"));

async function showResults({ ms, dispatches, outputs }) {
  const first = $("results").hidden;
  runsMs = first ? [ms] : [...runsMs, ms];
  const best = first ? "" : `, the fastest of ${runsMs.length} runs ${Math.min(...runsMs).toFixed(1)} ms`;
  setText($("cost"), `${ms.toFixed(1)} ms from arrays to arrays${best}; ${dispatches} GPU dispatches on ${$("adapter").textContent}`);
  $("outputs").replaceChildren(...(await Promise.all(outputs.map(outputView))));
  $("results").hidden = false;
}

// Outputs

const VIEWS = { picture: "Image", heat: "Heat map", top: "Largest values", table: "Table" };

async function outputView({ name, text, views }) {
  const content = element("div", { className: "scroll" });
  const kind = select("Show", Object.fromEntries(Object.keys(views).map((view) => [view, VIEWS[view]])));
  const plane = element("input", { type: "number", min: 0, value: 0 });
  const planeChoice = element("label", {}, "Plane ", plane);
  const show = async () => {
    planeChoice.hidden = views[kind.value] < 2;
    plane.max = views[kind.value] - 1;
    const number = Math.min(Math.max(0, plane.valueAsNumber || 0), views[kind.value] - 1);
    content.replaceChildren(...pictured(name, await ask(kind.value, [name, number])));
  };
  kind.onchange = plane.onchange = () => doing("Showing", show);
  await show();
  const head = element("h3", {}, name, element("small", {}, ` ${text}`));
  return element("section", { className: "output" }, head, kind.parentNode, planeChoice, content);
}

function pictured(name, { rows, more, top, width, height, pixels, low, high }) {
  if (rows) {
    const lines = rows.map(({ at, cells }) => element("tr", {}, element("th", { scope: "row" }, at), ...cells.map((v) => element("td", {}, v))));
    return [element("table", { className: "numbers" }, element("tbody", {}, ...lines)), element("small", {}, more || "")];
  }
  if (top) {
    return [element("ol", { className: "bars" }, ...top.map(({ at, value, width }) => bar(at, value, width)))];
  }
  const canvas = element("canvas", { width, height, className: "pixels", role: "img", ariaLabel: `${name} as a picture` });
  canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(pixels), width, height), 0, 0);
  return [canvas, element("small", {}, `${width} × ${height}; from ${low} to ${high}`)];
}

function bar(name, value, width, part = width) {
  const made = element("span", { className: "bar" });
  made.style.setProperty("--score", width);
  made.style.setProperty("--part", part);
  return element("li", {}, element("span", { className: "name" }, ...name), made, element("span", { className: "value" }, value));
}

$("download").onclick = () => doing("Writing the file", async () => {
  const url = URL.createObjectURL(new Blob([await ask("archive")], { type: "application/zip" }));
  element("a", { href: url, download: `${$("model-name").textContent}.npz` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
});

// Profiles

function showTimes({ about, kernels, dispatches }) {
  const list = (rows) => element("ol", { className: "bars" }, ...rows.map(({ kernel, where, time, width, reached }) =>
    bar(breakable(`${kernel}, ${where}`), time, width, width * reached)));
  $("times-about").textContent = `${about}\nThe blue part of a bar is the time that the work takes at the ceilings.`;
  $("bars").replaceChildren(list(kernels), element("details", {}, element("summary", {}, "Each dispatch, in order"), list(dispatches)));
  $("times").hidden = false;
  $("times-title").focus();
}
