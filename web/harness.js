// A page that runs Python for webq8.desktop.host. Its address says how: ?pyodide=VERSION&thread=worker|main&desk=PATH
import { serve } from "./python_worker.js";

const query = Object.fromEntries(new URLSearchParams(location.search));

// A worker that computes outlives its page by seconds, in which its call would wait.
addEventListener("pagehide", () => {
  fetch(query.desk, { method: "PUT", keepalive: true, body: "it was left, reloaded or closed" });
});

if (query.thread === "worker") {
  const worker = new Worker(".webq8.js", { type: "module" });
  worker.onerror = (event) => {
    throw new Error(event.message ?? "python_worker.js did not load");
  };
  worker.postMessage(query);
} else {
  serve(query);
}
