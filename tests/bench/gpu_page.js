// Runs main(query) of gpu_page.py in this page's Python and posts its JSON to /result, an error as {"error": text}.
import "./replay.js";

async function run() {
  const runtime = (await (await fetch("runtime.json")).json())["0.27.7"];
  const { loadPyodide } = await import(new URL(`${runtime.pyodide}pyodide.mjs`, location));
  const pyodide = await loadPyodide({ indexURL: new URL(runtime.pyodide, location).href });
  await pyodide.loadPackage(runtime.wheels.map((wheel) => new URL(wheel, location).href));
  pyodide.unpackArchive(await (await fetch("bench.zip")).arrayBuffer(), "zip");
  return pyodide.pyimport("gpu_page").main(location.search.slice(1));
}

const result = await run().catch((error) => JSON.stringify({ error: `${error}` }));
await fetch("/result", { method: "POST", body: result });
