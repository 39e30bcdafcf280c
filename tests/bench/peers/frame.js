// Measures one way to run MobileNetV2 and tells the page around: stages from this frame's opening to its first answer,
// then steady times, in milliseconds. What is run is loaded in here, so that loading it counts.
const query = Object.fromEntries(new URLSearchParams(location.search));

async function measured() {
  const { measure } = await import(`./${query.peer}.js`);
  return measure(query);
}

const result = await measured().catch((error) => ({ error: `${error}` }));
parent.postMessage(result, location.origin);
