// Python in this page or worker: Pyodide of that version, with the wheels that runtime.json lists for it.
//
// Everything downloads while Python starts. `onStage` is told what is done next: "Python runtime", then each wheel by name;
// `options` are loadPyodide's.
export async function startPython(version, { onStage = () => {}, ...options } = {}) {
  checkWebAssembly();
  const base = new URL(".", import.meta.url);
  const download = async (path) => {
    const response = await fetch(new URL(path, base));
    if (!response.ok) throw new Error(`${path}: the server answered ${response.status}`);
    return response;
  };

  const runtime = await download("runtime.json").then(async (response) => (await response.json())[version]);
  const wheels = runtime.wheels.map((path) => download(path).then((response) => response.arrayBuffer()));
  const loaded = Promise.all(wheels);

  onStage("Python runtime");
  const indexURL = new URL(runtime.pyodide, base).href;
  const started = import(`${indexURL}pyodide.mjs`).then(({ loadPyodide }) => loadPyodide({ indexURL, ...options }));
  const python = await Promise.race([started, loaded.then(() => started)]); // a missing wheel ends the start at once
  for (const [i, path] of runtime.wheels.entries()) {
    onStage(path.split("/").at(-1).split("-")[0]);
    try {
      python.unpackArchive(await wheels[i], "wheel");
    } catch (cause) {
      throw new Error(`${path} cannot be unpacked: ${cause.message}`);
    }
  }
  return python;
}

// Where a policy forbids it, Pyodide would wait for ever. These bytes are the smallest module.
function checkWebAssembly() {
  try {
    new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  } catch (cause) {
    throw Object.assign(new Error(`WebAssembly does not run here: ${cause.message}`), { kind: "Policy" });
  }
}
