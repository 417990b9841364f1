// The tab of GPUs: a figure for each, with the last five minutes that this page has seen.

const KEPT_SECONDS = 300;
const gpus = new Map();  // by program and index: {figure, samples: [{time, memory, use}]}

const share = (part, whole) => whole ? Math.min(100, 100 * part / whole) : 0;

function bar(label, percent, text) {
  const fill = element("span");
  fill.style.width = (percent ?? 0) + "%";
  const meter = element("div", {className: "bar", role: "meter"}, fill);
  for (const [name, value] of [
           ["label", label], ["valuemin", 0], ["valuemax", 100], ["valuenow", Math.round(percent ?? 0)], ["valuetext", text]])
    meter.setAttribute("aria-" + name, value);
  return element("div", {className: "gauge"}, element("span", {}, label), meter, element("span", {}, text));
}

class Device {
  constructor() {
    this.samples = [];
    this.canvas = element("canvas", {role: "img"});
    this.canvas.of = this;
    this.title = element("h3");
    this.gauges = element("div", {className: "gauges"});
    this.processes = element("p", {className: "note"});
    this.legend = element("p", {className: "note legend"}, key(0, []), " memory ", key(1, DASHES[1]), " use, in percent");
    this.figure = element("figure", {}, this.title, this.gauges, this.legend, this.canvas, this.processes);
    resized.observe(this.canvas);
  }

  take(gpu, time) {
    this.samples.push({time, memory: share(gpu.memory_used, gpu.memory_total), use: gpu.utilization});
    while (this.samples[0].time < time - KEPT_SECONDS) this.samples.shift();
    this.title.textContent = `cuda:${gpu.index} ${gpu.name}` + (gpu.program === null ? "" : `, of program ${gpu.program}`);
    const used = `${readableBytes(gpu.memory_used)} of ${readableBytes(gpu.memory_total)}`;
    this.gauges.replaceChildren(bar("memory", share(gpu.memory_used, gpu.memory_total), used),
      bar("use", gpu.utilization, gpu.utilization === null ? "not known" : gpu.utilization + " %"));
    this.processes.textContent =
        gpu.processes.map(process => `${process.name} (${process.pid}): ${readableBytes(process.memory_used)}`).join(", ");
    this.canvas.setAttribute("aria-label", `memory and use of cuda:${gpu.index} over ${Math.round(time - this.samples[0].time)} seconds`);
    this.canvas.dataset.samples = String(this.samples.length);
    if (!by("panel-devices").hidden) this.draw();
  }

  draw() {
    const now = this.samples.at(-1).time, x = this.samples.map(sample => sample.time - now);
    drawLines(
        this.canvas,
        [
          {x, y: this.samples.map(sample => sample.memory), colour: 0, dash: []},
          {x, y: this.samples.map(sample => sample.use), colour: 1, dash: DASHES[1]}
        ],
        {axis: "ago", range: [-KEPT_SECONDS, 0], bounds: [0, 100], empty: "loading…"});
  }
}

function key(index, dash) {
  const mark = element("span", {className: "swatch dash" + DASHES.indexOf(dash.length ? dash : DASHES[0])});
  mark.style.color = `var(--c${index})`;
  return mark;
}

// From when the tab was first opened on, also while another one is: so the curves have no gaps.
async function sampleDevices() {
  const found = await ask("devices").catch(() => null), time = Date.now() / 1000;
  if (!found) return;
  const names = found.map(gpu => `${gpu.program}:${gpu.index}`);
  for (const name of gpus.keys()) if (!names.includes(name)) { resized.unobserve(gpus.get(name).canvas); gpus.delete(name); }
  found.forEach((gpu, i) => {
    if (!gpus.has(names[i])) gpus.set(names[i], new Device());
    gpus.get(names[i]).take(gpu, time);
  });
  const shown = [...gpus.keys()].join();
  if (by("devices").key === shown) return;
  by("devices").key = shown;
  by("devices").replaceChildren(...gpus.size ? [...gpus.values()].map(device => device.figure) : [note("No GPU is in use.")]);
}

function showDevices() {
  if (!devicesAsked) by("devices").replaceChildren(note("Loading…"));
  devicesAsked = true;
  sampleDevices();
}

SHOW.devices = showDevices;
