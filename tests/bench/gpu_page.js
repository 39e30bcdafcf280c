// Runs main(query) of gpu_page.py in this page's Python and posts its JSON to /result, an error as {"error": text}.
import { startPython } from "./python.js";
import "./replay.js";

async function run() {
  const pyodide = await startPython("0.27.7");
  pyodide.unpackArchive(await (await fetch("bench.zip")).arrayBuffer(), "zip");
  return pyodide.pyimport("gpu_page").main(location.search.slice(1));
}

const result = await run().catch((error) => JSON.stringify({ error: `${error}` }));
await fetch("/result", { method: "POST", body: result });
