// How the frames take times, all in milliseconds. The frame's address may say how long: see index.js.

const query = new URLSearchParams(location.search);
export const options = { samples: 20, warm: 400, batch: 15 };
for (const name of Object.keys(options)) options[name] = Number(query.get(name) ?? options[name]);

// How long each stage takes; the first began when the frame was opened.
export class Stages {
  times = {};
  since = 0;

  constructor(first) {
    this.current = first;
  }

  next(name) {
    const now = performance.now();
    this.times[this.current] = now - this.since;
    this.since = now;
    this.current = name;
  }
}

// The median time of `work`, once it was done over and over for `warm` milliseconds.
export async function median(work) {
  const since = performance.now();
  while (performance.now() - since < options.warm) await work();
  const times = [];
  for (let i = 0; i < options.samples; i++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
}

// The same for runs that do not wait for each other: `work(n)` starts n of them and waits for all.
export async function medianOfBatches(work) {
  let runs = 1;
  for (;;) {
    const start = performance.now();
    await work(runs);
    if (performance.now() - start >= options.batch) break;
    runs *= 2;
  }
  return (await median(() => work(runs))) / runs;
}
