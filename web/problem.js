// Shows what went wrong. The first script of the page: whatever fails after it, the others included, ends here.

const PROBLEMS = {
  Insecure: [
    "This page needs a secure address",
    "Browsers offer WebGPU to https pages and to localhost only. Open this page through one of those.",
  ],
  NoWebGPU: [
    "This browser has no WebGPU",
    "Open this page in an up-to-date Chrome, Edge or Safari (26 or later), or in Firefox (from 141 on Windows, from 145 " +
      "on macOS). On Linux, Chrome may need “Unsafe WebGPU” turned on in chrome://flags.",
  ],
  NoAdapter: [
    "WebGPU found no graphics adapter",
    "Turn on hardware acceleration in the browser's settings and update the graphics driver, then try again.",
  ],
  DeviceLost: ["The GPU stopped answering", "The browser or the driver has reset it. Try again to start over."],
  Python: ["Python did not start", "Check the connection and that the browser is up to date, then try again."],
  Policy: [
    "This site or browser forbids what Python needs",
    "Python is WebAssembly, which lockdown modes of browsers forbid. Whoever runs this site must allow it in its " +
      "Content-Security-Policy, by “script-src 'self' 'wasm-unsafe-eval'”, and the policy “webq8” where the site asks " +
      "for trusted types.",
  ],
  Download: ["A part of this page could not be loaded", "Check the connection, then try again."],
  FormatError: ["A model file is broken", "It may have been cut off on the way, or is no model at all. Try again."],
  Unsupported: ["A model holds something that webq8 cannot run", "The list below names every such part."],
  LimitError: ["A model does not fit this device", "The browser or the GPU allows less than it needs; see below."],
  Address: [
    "The address could not be read",
    "Check it. Its server must be there, and allow other sites to read the file (CORS); or download the file yourself, " +
      "and drop it here.",
  ],
  InputError: ["What was given does not fit", "The text below says what is expected."],
};
const UNKNOWN = ["Something went wrong", "Try again; if it happens again, the message below is worth reporting."];

const $ = (id) => document.getElementById(id);

// What happened, and what to do about it.
export function explain(kind) {
  return PROBLEMS[kind] ?? UNKNOWN;
}

// The first error is the cause; those that follow from it are not shown.
export function showError({ kind, message }) {
  if (!$("error").hidden) return;
  [$("problem").textContent, $("advice").textContent] = explain(kind);
  $("detail").textContent = message;
  $("error").hidden = false; // which hides what else there is
}

// Captured, since the error of a script that does not load goes no further than its element.
addEventListener("error", ({ target, message, error }) => {
  if (target instanceof HTMLScriptElement) showError({ kind: "Download", message: `${target.src} did not load` });
  else if (target === window) showError({ kind: error?.kind, message });
}, true);
addEventListener("unhandledrejection", ({ reason }) => {
  showError({ kind: reason?.kind, message: reason?.message ?? String(reason) });
});

$("retry").onclick = () => location.reload();
$("stalled").remove();
