// Python that works for a desk of webq8.desktop.host, which is a path on this site: a GET waits for the next call and
// brings it, a POST hands the answer back. The first POST is empty and says that Python is up; a PUT says why it cannot
// go on.
// A page imports this module to have Python on its own thread, or starts it as a module worker.
import "./replay.js"; // webq8's own, since this site's policy forbids it to evaluate text
import { startPython } from "./python.js";

const print = (line) => console.log(line);

export async function serve({ pyodide: version, desk }) {
  fetch(`${desk}/lifeline`).catch(() => {}); // ends with this page or worker, which is how its end is noticed
  try {
    const pyodide = await startPython(version, { stdout: print, stderr: print });
    const { answer } = pyodide.pyimport("webq8.transport");
    const { to_bytes, use_bytes } = pyodide.pyimport("webq8.backends.browser.bridge");
    await fetch(desk, { method: "POST" });
    for (;;) {
      const call = await fetch(desk);
      if (call.status === 204) continue; // none yet
      if (!call.ok) return; // the desk was closed
      const message = to_bytes(await call.arrayBuffer());
      const reply = await answer(message);
      // A blob: the text of other bodies goes through the debugging protocol too, slowly.
      const body = use_bytes(reply, (bytes) => new Blob([bytes]));
      message.destroy();
      reply.destroy();
      await fetch(desk, { method: "POST", body });
    }
  } catch (error) {
    await fetch(desk, { method: "PUT", body: `${error}` });
  }
}

if (globalThis.WorkerGlobalScope !== undefined && globalThis instanceof WorkerGlobalScope) {
  onmessage = ({ data }) => serve(data);
}
