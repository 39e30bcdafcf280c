// Python that works for a desk of webq8.host, which is a path on this site: a GET waits for the next call and brings it,
// a POST hands the answer back. The first POST is empty and says that Python is up; a PUT says why it cannot go on.
// A page imports this module to have Python on its own thread, or starts it as a module worker.
import "./replay.js"; // webq8's own, since this site's policy forbids it to evaluate text

export async function serve({ pyodide: version, desk }) {
  try {
    const pyodide = await boot(version);
    const { answer } = pyodide.pyimport("webq8.transport");
    await fetch(desk, { method: "POST" });
    for (;;) {
      const call = await fetch(desk);
      if (call.status === 204) continue; // none yet
      if (!call.ok) return; // the desk was closed
      const reply = await answer(pyodide.toPy(await call.arrayBuffer()));
      const buffer = reply.getBuffer("u8");
      // A blob: the text of other bodies goes through the debugging protocol too, slowly.
      await fetch(desk, { method: "POST", body: new Blob([buffer.data]) });
      buffer.release();
      reply.destroy();
    }
  } catch (error) {
    await fetch(desk, { method: "PUT", body: `${error}` });
  }
}

// Pyodide of that version, with the wheels that runtime.json lists for it.
async function boot(version) {
  const base = new URL(".", import.meta.url);
  const runtime = (await (await fetch(new URL("runtime.json", base))).json())[version];
  const { loadPyodide } = await import(new URL(`${runtime.pyodide}pyodide.mjs`, base));
  const print = (line) => console.log(line);
  const pyodide = await loadPyodide({ indexURL: new URL(runtime.pyodide, base).href, stdout: print, stderr: print });
  const problems = [];
  await pyodide.loadPackage(runtime.wheels.map((wheel) => new URL(wheel, base).href), {
    messageCallback: () => {},
    errorCallback: (problem) => problems.push(problem),
  });
  if (problems.length) throw new Error(problems.join("; "));
  return pyodide;
}

if (globalThis.WorkerGlobalScope !== undefined && globalThis instanceof WorkerGlobalScope) {
  onmessage = ({ data }) => serve(data);
}
