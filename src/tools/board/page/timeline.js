// The last step of a trace: who did what when, to be zoomed and moved.

const EVENT_TALL = 15, ROW_TITLE = 20, MOST_DEPTH = 6;
const TIMELINE_HINT = "Wheel, pinch, plus and minus zoom; drag and arrows move; 0 shows all. The pointer names events, and joins a call to its run.";

class Timeline {
  constructor(timeline, run) {
    this.length = timeline.length;
    this.view = [0, timeline.length];
    this.rows = withIdleLanes(timeline.rows.map(row => ({...row, ...laidOut(row.events)})).map(named), timeline.idle);
    this.fingers = new Map();  // where pointers that are down are
    this.pointed = null;       // the event under the pointer
    this.kinds = [...new Set(this.rows.flatMap(row => row.events.map(event => event.category)))].sort();
    this.canvas = element("canvas", {tabIndex: 0, role: "img", className: "timeline"});
    this.canvas.of = this;
    this.canvas.setAttribute(
        "aria-label",
        `${timeline.what}: ${this.rows.map(row => `${row.device}, ${row.stream}${row.gaps ? "" : `: ${row.events.length} events`}`).join("; ")}. ${
            TIMELINE_HINT}`);
    this.canvas.style.height = this.rows.reduce((sum, row) => sum + ROW_TITLE + row.depth * EVENT_TALL + 6, MARGIN.bottom) + "px";
    this.told = element("p", {className: "note told"}, TIMELINE_HINT);
    this.told.setAttribute("aria-live", "polite");
    const legend = element("p", {className: "note legend"}, ...this.kinds.flatMap((kind, i) => [key(i % 6, []), ` ${kind} `]));
    const fit = chartButton("fit", "the whole step", () => this.show(0, this.length));
    const download = element("a", {className: "button", href: "trace?run=" + run.id, download: "trace.json"}, "trace for Perfetto");
    const idle = element(
        "p", {className: "idle"},
        ...timeline.idle.map(gpu => element("span", {}, `${gpu.device}: ${idleText(gpu)} idle`)));
    this.figure = element(
        "figure", {},
        element(
            "div", {className: "head"}, element(
                "h3", {},
                `Timeline: ${timeline.what}, ${readableMicroseconds(this.length)}, ${timeline.shown.toLocaleString("en")} of ${
                    timeline.events.toLocaleString("en")} events`),
            fit,
            download),
        idle, element("p", {className: "note look"}, lookFirst(this.rows, timeline.idle, this.length)), legend, this.canvas, this.told);
    this.listen();
    resized.observe(this.canvas);
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", event => {
      const [from, to] = this.view;
      const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!sideways && event.deltaY > 0 && to - from >= this.length) return;  // the page scrolls on
      event.preventDefault();
      if (sideways) this.move((event.deltaX || event.deltaY) / canvas.clientWidth);
      else this.zoom(Math.exp(event.deltaY * 0.002), this.toTime(event.offsetX));
    }, {passive: false});
    const hold = () => this.held = {xs: [...this.fingers.values()], view: this.view};
    canvas.addEventListener("pointerdown", event => {
      if (event.button !== 0) return;
      this.fingers.set(event.pointerId, event.offsetX);
      canvas.setPointerCapture(event.pointerId);
      hold();
    });
    canvas.addEventListener("pointermove", event => {
      if (!this.fingers.has(event.pointerId)) return this.tell(event.offsetX, event.offsetY);
      this.fingers.set(event.pointerId, event.offsetX);
      const {xs, view: [from, to]} = this.held, now = [...this.fingers.values()], each = (to - from) / canvas.clientWidth;
      if (now.length === 1) return this.show(from + (xs[0] - now[0]) * each, to + (xs[0] - now[0]) * each);
      // What was under two fingers stays under them.
      if (Math.abs(now[1] - now[0]) < 8) return;
      const pixel = (xs[1] - xs[0]) * each / (now[1] - now[0]);
      if (pixel > 0) this.show(from + xs[0] * each - now[0] * pixel, from + xs[0] * each + (canvas.clientWidth - now[0]) * pixel);
    });
    for (const end of ["pointerup", "pointercancel"])
      canvas.addEventListener(end, event => { this.fingers.delete(event.pointerId); hold(); });
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("dblclick", () => this.show(0, this.length));
    canvas.addEventListener("keydown", event => {
      const act = {
        ArrowLeft: () => this.move(-0.1),
        ArrowRight: () => this.move(0.1),
        "+": () => this.zoom(0.7),
        "=": () => this.zoom(0.7),
        "-": () => this.zoom(1 / 0.7),
        "0": () => this.show(0, this.length),
        Home: () => this.move(-1e9),
        End: () => this.move(1e9)
      }[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
  }

  toTime(pixel) { return this.view[0] + pixel / this.canvas.clientWidth * (this.view[1] - this.view[0]); }
  move(share) { const by = share * (this.view[1] - this.view[0]); this.show(this.view[0] + by, this.view[1] + by); }
  zoom(factor, about = (this.view[0] + this.view[1]) / 2) {
    this.show(about + (this.view[0] - about) * factor, about + (this.view[1] - about) * factor);
  }

  // Shows a part, as near to what is asked for as there is; a microsecond's thousandth at the least.
  show(from, to) {
    const wide = Math.min(this.length, Math.max(1e-3, to - from)), begin = Math.min(Math.max(0, from), this.length - wide);
    this.view = [begin, begin + wide];
    this.draw();
  }

  draw() {
    const {c, width, height} = prepared(this.canvas), [from, to] = this.view, X = time => (time - from) / (to - from) * width;
    this.canvas.dataset.view = JSON.stringify(this.view);
    this.boxes = [];
    let y = 0;
    for (const row of this.rows) {
      c.fillStyle = style("--dim");
      c.textAlign = "left";
      c.fillText(`${row.device}, ${row.stream}`, 2, y + 13);
      y += ROW_TITLE;
      c.fillStyle = style("--rule");
      for (const [begin, end] of row.gaps ?? []) c.fillRect(X(begin), y, Math.max(0.5, X(end) - X(begin)), EVENT_TALL - 4);
      for (const event of row.events) {
        if (event.start > to || event.start + event.length < from) continue;
        const x = Math.max(-2, X(event.start)), end = Math.min(width + 2, X(event.start + event.length));
        const box = {x, y: y + event.depth * EVENT_TALL, width: Math.max(0.5, end - x), height: EVENT_TALL - 2, event, row};
        c.fillStyle = colour(this.kinds.indexOf(event.category));
        c.fillRect(box.x, box.y, box.width, box.height);
        if (box.width > 40) {
          c.save();
          c.beginPath();
          c.rect(box.x, box.y, box.width - 2, box.height);
          c.clip();
          c.fillStyle = style("--sheet");
          c.fillText(event.name, Math.max(0, box.x) + 3, box.y + 10.5);
          c.restore();
        }
        this.boxes.push(box);
      }
      y += row.depth * EVENT_TALL + 6;
    }
    this.drawArrow(c);
    const [unit, name] = to > 5e6 ? [1e6, "s"] : to > 5e3 ? [1e3, "ms"] : [1, "µs"];
    const marks = ticks(from / unit, to / unit, Math.max(LEAST_TICKS, Math.floor(width / 90)));
    drawAxes(c, {left: 0, right: width - MARGIN.right, top: 0, bottom: height - MARGIN.bottom},
      marks.values.map(value => [X(value * unit), tickLabel(value, marks.step)]), [], `${name} since the step began`);
  }

  // From the call that queued the work under the pointer to its run, or from the call under the pointer to all that it queued.
  drawArrow(c) {
    const number = this.pointed?.number ?? -1, ends = number < 0 ? [] : this.boxes.filter(box => box.event.number === number);
    const call = ends.find(box => !onGpu(box.row));
    this.canvas.dataset.arrows = "0";
    if (!call) return;
    c.strokeStyle = c.fillStyle = style("--text");
    c.lineWidth = 1.5;
    const x = call.x + call.width, y = call.y + call.height / 2;
    for (const run of ends.filter(box => onGpu(box.row))) {
      const toX = run.x, toY = run.y + run.height / 2, angle = Math.atan2(toY - y, toX - x);
      c.beginPath();
      c.moveTo(x, y);
      c.lineTo(toX, toY);
      c.stroke();
      c.beginPath();
      c.moveTo(toX, toY);
      for (const side of [-0.4, 0.4]) c.lineTo(toX - 9 * Math.cos(angle + side), toY - 9 * Math.sin(angle + side));
      c.fill();
      this.canvas.dataset.arrows = String(Number(this.canvas.dataset.arrows) + 1);
    }
  }

  point(event) {
    if (event === this.pointed) return;
    this.pointed = event;
    this.draw();
  }

  tell(x, y) {
    const box = this.boxes?.filter(box => x >= box.x - 1 && x <= box.x + box.width + 1 && y >= box.y && y <= box.y + box.height).pop();
    this.point(box?.event ?? null);
    if (!box) return void (this.told.textContent = TIMELINE_HINT);
    const {event, row} = box;
    this.told.textContent = [
      event.name, event.category, readableMicroseconds(event.whole) + (event.whole > event.length * 1.000001 ? " (a part of it here)" : ""),
      ...event.bytes ? [readableBytes(event.bytes)] : [], ...event.line ? [event.line] : [], row.device, row.stream
    ].join(" · ");
  }
}

// Events of a row, those within another below it.
function laidOut(events) {
  const ends = [];
  const laid = events.slice().sort((a, b) => a[0] - b[0] || b[1] - a[1]).map(([start, length, name, category, whole, bytes, line, number]) => {
    let depth = 0;
    while (depth < MOST_DEPTH && ends[depth] > start + 1e-6) ++depth;
    ends[depth] = start + length;
    return {start, length, name, category, whole, bytes, line, number, depth};
  });
  return {events: laid, depth: Math.max(1, ends.length)};
}

// --- What to look at first

const onGpu = row => /^cuda:\d+$/.test(row.device);

// A stream that only copies is called so.
const named = row => onGpu(row) && row.events.every(event => event.category === "copy") ? {...row, stream: `copies (${row.stream})`} : row;

// The rows with a lane above each GPU's streams: where it does nothing is filled.
function withIdleLanes(rows, gpus) {
  return rows.flatMap((row, i) => {
    const gpu = row.device === rows[i - 1]?.device ? null : gpus.find(gpu => gpu.device === row.device);
    return gpu ? [{device: row.device, stream: `idle ${idleText(gpu)}`, events: [], depth: 1, gaps: gpu.gaps}, row] : [row];
  });
}
const idleText = gpu => (100 * gpu.share).toFixed(1) + " %";

// What took most of the time between two points, without what stood within it: {name, line, time}, or null.
function mostOf(rows, from, to) {
  const times = new Map();
  for (const row of rows) {
    const around = [];  // the events that the next one stands in
    for (const event of row.events) {
      const inside = Math.max(0, Math.min(to, event.start + event.length) - Math.max(from, event.start));
      while (around.length && around.at(-1).end <= event.start + 1e-6) around.pop();
      const add = (key, time) => times.set(key, (times.get(key) ?? 0) + time), key = JSON.stringify([event.name, event.line]);
      if (around.length) add(around.at(-1).key, -inside);
      add(key, inside);
      around.push({end: event.start + event.length, key});
    }
  }
  const [key, time] = [...times].reduce((most, each) => each[1] > most[1] ? each : most, ["", 1e-9]);
  if (!key) return null;
  const [name, line] = JSON.parse(key);
  return {name: line ? `${name} (${line.slice(line.lastIndexOf("/") + 1)})` : name, time};
}

// One sentence: the GPU that idles most, how long at a stretch and what the host does meanwhile, or what busy ones work at.
function lookFirst(rows, gpus, length) {
  const host = rows.filter(row => !onGpu(row));
  if (!gpus.length) {
    const most = mostOf(host, 0, length);
    return most ? `No GPU worked here. Look first at ${most.name}: ${readableMicroseconds(most.time)} of the host's time.` : "";
  }
  const idlest = gpus.reduce((most, gpu) => gpu.share > most.share ? gpu : most);
  if (idlest.share > 0.2 && idlest.gaps.length) {
    const [from, to] = idlest.gaps.reduce((most, gap) => gap[1] - gap[0] > most[1] - most[0] ? gap : most), most = mostOf(host, from, to);
    return `Look first at ${idlest.device}: it idles most, ${readableMicroseconds(to - from)} at a stretch, ` +
        (most ? `while the host spends ${readableMicroseconds(most.time)} in ${most.name}.` : "while nothing of the host is recorded.");
  }
  const busiest = gpus.reduce((least, gpu) => gpu.share < least.share ? gpu : least);
  const most = mostOf(rows.filter(row => row.device === busiest.device), 0, length);
  return most ? `The GPUs are busy. Look first at ${most.name}: ${readableMicroseconds(most.time)} of the work of ${busiest.device}.` : "";
}

const showWaits = () => once("waits", async () => {
  const parts = [];
  for (const run of chosenRuns().filter(run => run.ledger || run.trace)) {
    parts.push(element("h2", {}, swatch(run.id), " ", titleOf(run)));
    if (run.ledger) parts.push(ledgerFigure(await ask("ledger", {run: run.id}) ?? ""));
    if (!run.trace) continue;
    const place = note("Reading the trace…");
    parts.push(place);
    ask("timeline", {run: run.id}).catch(error => ({why: error.message})).then(timeline =>
      place.replaceWith(...!timeline ? [] : timeline.why ? [note(timeline.why)] : [new Timeline(timeline, run).figure]));
  }
  return parts;
});

SHOW.waits = showWaits;
if (tab !== "curves") showTab();  // all of the script is there now
