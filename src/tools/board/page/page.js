// The board: what the server tells of the runs, kept fresh, and shown. Names are written as text only, never as HTML.
"use strict";

const by = id => document.getElementById(id);
const LATEST = 10, POINTS = 400, EVERY_MS = 2000;
const TABS = [["curves", "Curves"], ["table", "Runs and results"], ["images", "Images"], ["histograms", "Histograms"], ["texts", "Texts"],
  ["devices", "GPUs"], ["waits", "Waits and timeline"]];

let state = {version: 0, runs: []}, tab = "curves", runFilter = "", tagFilter = "", sortBy = null, sortDown = false, ended = false;
const chosen = new Set(), touched = {by: false}, places = new Map();  // a run's place decides its colour

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) key in made ? made[key] = value : made.setAttribute(key, value);
  made.append(...children);
  return made;
}

async function ask(what, parameters = {}) {
  const answer = await fetch(what + "?" + new URLSearchParams(parameters), {cache: "no-store"});
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

const chosenRuns = () => state.runs.filter(run => chosen.has(run.id));
const place = id => { if (!places.has(id)) places.set(id, places.size); return places.get(id); };
const nameOf = id => state.runs.find(run => run.id === id)?.name ?? "";
const tagsOf = kind => [...new Set(chosenRuns().flatMap(run => kind === "scalars" ? Object.keys(run.scalars) : run[kind]))].sort();

// --- Runs

function swatch(id) {
  const mark = element("span", {className: "swatch" + (isDashed(place(id)) ? " dashed" : "")});
  mark.style.color = `var(--c${place(id) % 6})`;
  return mark;
}

function showRuns() {
  const wanted = state.runs.filter(run => run.name.toLowerCase().includes(runFilter));
  const focused = document.activeElement?.dataset?.run;
  by("runs").replaceChildren(...wanted.map(run => {
    const box = element("input", {type: "checkbox", checked: chosen.has(run.id)});
    box.dataset.run = run.id;
    box.addEventListener("change", () => { box.checked ? chosen.add(run.id) : chosen.delete(run.id); touched.by = true; choose(); });
    const name = element("span", {className: "name"}, run.name === "." ? "(the folder itself)" : run.name);
    if (run.trouble) name.append(element("span", {className: "note", title: run.trouble}, " ⚠ " + run.trouble));
    return element("li", {}, element("label", {}, box, swatch(run.id), name));
  }));
  if (focused !== undefined) by("runs").querySelector(`[data-run="${Number(focused)}"]`)?.focus();
  by("chosen").textContent = `${chosen.size} of ${state.runs.length}` + (state.left_out ? ", others left out" : "");
}

function choose() {
  by("chosen").textContent = `${chosen.size} of ${state.runs.length}`;
  showTab();
}

function chooseLatest() {
  chosen.clear();
  [...state.runs].sort((a, b) => b.changed - a.changed).slice(0, LATEST).forEach(run => chosen.add(run.id));
}

// --- Curves

const figures = new Map();  // by tag
const seen = new IntersectionObserver(entries => {
  for (const entry of entries) {
    const figure = entry.target.of;
    figure.visible = entry.isIntersecting;
    if (figure.visible) figure.refresh();
  }
}, {rootMargin: "200px"});
const resized = new ResizeObserver(entries => requestAnimationFrame(() => entries.forEach(entry => entry.target.of.draw())));

class Curves {
  constructor(tag) {
    this.tag = tag;
    this.curves = [];
    this.canvas = element("canvas", {tabIndex: 0, role: "img"});
    this.tip = element("div", {className: "tip", hidden: true});
    this.table = element("div", {className: "scroll"});
    this.details = element("details", {}, element("summary", {}, "Figures"), this.table);
    this.figure = element("figure", {}, element("h3", {}, tag), this.canvas, this.tip, this.details);
    this.figure.of = this.canvas.of = this;
    this.canvas.addEventListener("pointermove", event => this.point(event.offsetX));
    this.canvas.addEventListener("pointerleave", () => this.tip.hidden = true);
    this.canvas.addEventListener("blur", () => this.tip.hidden = true);
    this.canvas.addEventListener("keydown", event => {
      const by = {ArrowLeft: -12, ArrowRight: 12}[event.key];
      if (!by) return;
      event.preventDefault();
      this.point(Math.min(this.canvas.clientWidth - 10, Math.max(58, (this.at ?? this.canvas.clientWidth / 2) + by)));
    });
    this.details.addEventListener("toggle", () => this.tabulate());
    seen.observe(this.figure);
    resized.observe(this.canvas);
  }

  // Which runs, and how far they are: what has not changed is not asked for again.
  wanted() {
    return chosenRuns().filter(run => this.tag in run.scalars);
  }
  async refresh() {
    const runs = this.wanted(), key = runs.map(run => run.id + ":" + run.scalars[this.tag]).join();
    if (!this.visible || key === this.key) return;
    this.key = key;
    try {
      this.curves = await ask("curves", {tag: this.tag, runs: runs.map(run => run.id).join(), points: POINTS});
    } catch { this.key = null; return; }
    this.draw();
    this.tabulate();
  }

  draw() {
    const axis = by("axis").value, weight = Number(by("smoothing").value), log = by("log").checked;
    const lines = [];
    for (const curve of this.curves) {
      if (!chosen.has(curve.run)) continue;
      const first = curve.times.find(time => time !== null);
      const x = axis === "step" ? curve.steps : axis === "wall" ? curve.times : curve.times.map(time => time === null ? null : time - first);
      const look = {run: curve.run, x, colour: place(curve.run), dashed: isDashed(place(curve.run))};
      if (weight) lines.push({...look, y: curve.values, faint: true});
      lines.push({...look, y: smoothed(curve.values, weight)});
    }
    this.lines = lines.filter(line => !line.faint);
    this.scale = drawLines(this.canvas, lines, {log, axis});
    this.canvas.setAttribute("aria-label", `${this.tag}: ` + this.lines.slice(0, 10).map(line =>
      `${nameOf(line.run)} ends at ${readable(line.y.at(-1))}`).join("; ") + ". Arrow keys read values.");
    this.canvas.dataset.drawn = String(this.lines.length);
  }

  point(pixel) {
    this.at = pixel;
    if (!this.scale || !this.lines.length) return;
    const x = this.scale.toX(pixel), axis = by("axis").value;
    const rows = this.lines.map(line => {
      let low = 0, high = line.x.length - 1;
      while (low < high) { const middle = (low + high) >> 1; (line.x[middle] ?? -Infinity) < x ? low = middle + 1 : high = middle; }
      if (low > 0 && Math.abs(line.x[low - 1] - x) < Math.abs(line.x[low] - x)) --low;
      return {run: line.run, x: line.x[low], y: line.y[low]};
    }).filter(row => row.x !== undefined && row.x !== null);
    if (!rows.length) return;
    rows.sort((a, b) => (b.y ?? -Infinity) - (a.y ?? -Infinity));
    const more = rows.length - 12;
    this.tip.replaceChildren(element("b", {}, axisLabel(rows[0].x, axis)), ...rows.slice(0, 12).map(row =>
      element("div", {}, element("span", {}, nameOf(row.run)), element("b", {}, readable(row.y)))), ...more > 0 ? [`and ${more} more`] : []);
    this.tip.hidden = false;
    const right = pixel > this.canvas.clientWidth / 2;
    this.tip.style.left = right ? "" : pixel + 24 + "px";
    this.tip.style.right = right ? this.canvas.clientWidth - pixel + 24 + "px" : "";
    this.tip.style.top = "44px";
  }

  tabulate() {
    if (!this.details.open) return;
    const head = element("tr", {}, ...["run", "points", "last step", "last", "least", "greatest"].map(text => element("th", {scope: "col"}, text)));
    const rows = this.curves.map(curve => {
      const finite = curve.values.filter(value => value !== null);
      const least = finite.reduce((a, b) => Math.min(a, b), Infinity), greatest = finite.reduce((a, b) => Math.max(a, b), -Infinity);
      return element("tr", {}, element("th", {scope: "row"}, nameOf(curve.run)), ...[curve.points, curve.steps.at(-1), readable(curve.values.at(-1)),
        finite.length ? readable(least) : "", finite.length ? readable(greatest) : ""].map(text => element("td", {}, String(text))));
    });
    this.table.replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  }
}

function showCurves() {
  const tags = tagsOf("scalars").filter(tag => tag.toLowerCase().includes(tagFilter));
  const groups = new Map();
  groups.set("", []);  // first, without a heading
  for (const tag of tags) {
    const group = tag.includes("/") ? tag.slice(0, tag.indexOf("/")) : "";
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push(tag);
  }
  for (const [tag, figure] of figures)
    if (!tags.includes(tag)) { seen.unobserve(figure.figure); resized.unobserve(figure.canvas); figures.delete(tag); }
  const key = JSON.stringify([...groups]);
  if (by("curves").key !== key) {
    by("curves").key = key;
    by("curves").replaceChildren(...[...groups].flatMap(([group, names]) => [...group ? [element("h2", {}, group)] : [],
      element("div", {className: "grid"}, ...names.map(tag => {
        if (!figures.has(tag)) figures.set(tag, new Curves(tag));
        return figures.get(tag).figure;
      }))]));
  }
  if (!tags.length) by("curves").replaceChildren(element("p", {className: "note"}, nothing("curves")));
  figures.forEach(figure => figure.refresh());
}
const redraw = () => figures.forEach(figure => figure.visible && figure.draw());

function nothing(what) {
  if (state.reading) return "Still reading…";
  if (!state.runs.length) return "No runs yet. A run is a folder with TensorBoard's event files (train::SummaryWriter, train::TensorBoardLogger, tandem train --tensorboard) or a summary.json.";
  return chosen.size ? `The chosen runs have no ${what}.` : "No run is chosen.";
}

// --- Runs and results

function showTable() {
  const runs = chosenRuns();
  const facts = [...new Set(runs.flatMap(run => Object.keys(run.facts)))], tags = tagsOf("scalars");
  const columns = [["run", run => run.name], ...facts.map(name => [name, run => run.facts[name]]),
    ...tags.filter(tag => !facts.includes(tag)).map(tag => [tag + " (last)", run => run.scalars[tag]?.[1]])];
  const column = columns.find(([name]) => name === sortBy);
  if (column) runs.sort((a, b) => {
    const x = column[1](a), y = column[1](b);
    if (x === undefined || x === null || y === undefined || y === null) return (x === undefined || x === null) - (y === undefined || y === null);
    const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), undefined, {numeric: true});
    return sortDown ? -order : order;
  });
  const focused = document.activeElement?.dataset?.column;
  const head = element("tr", {}, ...columns.map(([name]) => {
    const button = element("button", {type: "button"}, name + (name === sortBy ? (sortDown ? " ▼" : " ▲") : ""));
    button.dataset.column = name;
    button.addEventListener("click", () => { sortDown = sortBy === name && !sortDown; sortBy = name; showTable(); });
    const cell = element("th", {scope: "col"}, button);
    cell.setAttribute("aria-sort", name === sortBy ? (sortDown ? "descending" : "ascending") : "none");
    return cell;
  }));
  const body = runs.map(run => element("tr", {}, ...columns.map(([name, value], i) => {
    const found = value(run), text = typeof found === "number" ? readable(found) : found === undefined || found === null ? "" : String(found);
    if (i > 0) return element("td", {className: typeof found === "number" ? "" : "text", title: text}, text);
    const cell = element("th", {scope: "row", title: text}, text);
    if (run.report) cell.append(" ", element("a", {href: "report?run=" + run.id, target: "_blank", rel: "noopener"}, "report"));
    return cell;
  })));
  by("table").replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
  if (focused !== undefined) [...by("table").querySelectorAll("button")].find(button => button.dataset.column === focused)?.focus();
}

// --- Pictures, histograms, texts: made once for each choice and each step that is new

const shown = {};
async function once(kind, make) {
  const key = JSON.stringify(chosenRuns().map(run => [run.id, run.changed, run[kind]]));
  if (shown[kind] === key) return;
  shown[kind] = key;
  const children = await make().catch(error => [element("p", {className: "note"}, error.message)]);
  if (shown[kind] === key) by(kind).replaceChildren(...children.length ? children : [element("p", {className: "note"}, nothing(kind))]);
}

const showImages = () => once("images", async () => {
  const tags = tagsOf("images"), runs = chosenRuns().map(run => run.id).join();
  const all = await Promise.all(tags.map(tag => ask("pictures", {tag, runs})));
  return tags.flatMap((tag, i) => [element("h2", {}, tag), element("div", {className: "pictures"}, ...all[i].map(({run, steps}) => {
    const picture = element("img", {loading: "lazy", alt: ""}), step = element("output");
    const slider = element("input", {type: "range", min: 0, max: steps.length - 1, value: steps.length - 1, hidden: steps.length < 2});
    slider.setAttribute("aria-label", `step of ${tag}, ${nameOf(run)}`);
    const show = () => {
      const at = steps[Number(slider.value)];
      picture.src = "picture?" + new URLSearchParams({tag, run, step: at});
      picture.alt = `${tag} of ${nameOf(run)} at step ${at}`;
      step.textContent = `step ${at}`;
    };
    slider.addEventListener("input", show);
    show();
    return element("div", {}, element("figure", {}, picture, element("p", {}, swatch(run), nameOf(run), " · ", step)), slider);
  }))]);
});

const showHistograms = () => once("histograms", () => Promise.all(tagsOf("histograms").flatMap(tag => {
  const figure = async run => {
    const found = await ask("histograms", {tag, run: run.id}) ?? [];
    const canvas = element("canvas", {role: "img"});
    canvas.setAttribute("aria-label", `${tag} of ${run.name}: ${found.length} histograms, from step ${found[0]?.step} to ${found.at(-1)?.step}`);
    canvas.of = {draw: () => drawHistograms(canvas, found, place(run.id))};
    resized.observe(canvas);
    return element("figure", {}, element("h3", {}, run.name), canvas);
  };
  const runs = chosenRuns().filter(run => run.histograms.includes(tag));
  return [element("h2", {}, tag), Promise.all(runs.map(figure)).then(all => element("div", {className: "grid"}, ...all))];
})));

const showTexts = () => once("texts", async () => {
  const parts = [];
  for (const run of chosenRuns().filter(run => run.texts)) {
    parts.push(element("h2", {}, run.name));
    for (const [tag, text] of Object.entries(await ask("texts", {run: run.id}) ?? {}))
      parts.push(element("figure", {}, element("h3", {}, tag.replace(/\/text_summary$/, "")), element("pre", {tabIndex: 0}, text)));
  }
  return parts;
});

// --- GPUs

const mebibytes = bytes => Math.round(bytes / 1048576).toLocaleString() + " MiB";
async function showDevices() {
  const gpus = await ask("devices").catch(() => []);
  const head = element("tr", {}, ...["GPU", "of program", "memory", "used", "busy", "processes"].map(text => element("th", {scope: "col"}, text)));
  const rows = gpus.map(gpu => {
    const meter = element("meter", {min: 0, max: gpu.memory_total || 1, value: gpu.memory_used});
    meter.setAttribute("aria-label", "memory used");
    return element("tr", {}, element("th", {scope: "row"}, `cuda:${gpu.index} ${gpu.name}`), element("td", {}, gpu.program === null ? "" : String(gpu.program)),
      element("td", {}, mebibytes(gpu.memory_total)), element("td", {}, meter, " " + mebibytes(gpu.memory_used)),
      element("td", {}, gpu.utilization === null ? "" : gpu.utilization + " %"),
      element("td", {className: "text"}, gpu.processes.map(process => `${process.name} (${process.pid}): ${mebibytes(process.memory_used)}`).join(", ")));
  });
  by("devices").replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows.length ? rows : [element("tr", {}, element("td", {}, "none in use"))]));
}

// --- Waits and the timeline

const showWaits = () => once("waits", async () => {
  const parts = [];
  for (const run of chosenRuns().filter(run => run.ledger || run.trace)) {
    parts.push(element("h2", {}, run.name));
    if (run.ledger) parts.push(element("figure", {}, element("h3", {}, "Copies and waits by line"), element("pre", {tabIndex: 0}, await ask("ledger", {run: run.id}) ?? "")));
    if (!run.trace) continue;
    const timeline = await ask("timeline", {run: run.id});
    if (timeline?.why) { parts.push(element("p", {className: "note"}, timeline.why)); continue; }
    if (!timeline) continue;
    const canvas = element("canvas", {role: "img"}), told = element("p", {className: "note"}, "The pointer names events.");
    canvas.setAttribute("aria-label", `${timeline.what}: ${timeline.rows.map(row => `${row.name}, ${row.events.length} events`).join("; ")}`);
    let at = null;
    canvas.of = {draw: () => at = drawTimeline(canvas, timeline)};
    canvas.addEventListener("pointermove", event => {
      const found = at?.(event.offsetX, event.offsetY);
      told.textContent = found ? `${found.name}: ${readable(found.length)} µs, ${found.category}` : "The pointer names events.";
    });
    resized.observe(canvas);
    parts.push(element("figure", {}, element("h3", {}, `Timeline: ${timeline.what}`), canvas, told));
  }
  return parts;
});

// --- All of it

const SHOW = {curves: showCurves, table: showTable, images: showImages, histograms: showHistograms, texts: showTexts, devices: showDevices, waits: showWaits};

function showTab() {
  for (const [name] of TABS) {
    by("panel-" + name).hidden = name !== tab;
    const button = by("tab-" + name);
    button.setAttribute("aria-selected", name === tab);
    button.tabIndex = name === tab ? 0 : -1;
  }
  SHOW[tab]();
}

async function update() {
  try {
    const fresh = await ask("state", {since: state.version});
    const first = state.version === 0;
    if (fresh.version !== state.version) {
      state = fresh;
      for (const run of state.runs) place(run.id);
      for (const id of chosen) if (!state.runs.some(run => run.id === id)) chosen.delete(id);
      if (!touched.by) chooseLatest();
      by("folder").textContent = state.folder;
      showRuns();
      showTab();
    } else if (tab === "devices") showDevices();
    by("status").textContent = state.reading ? "reading…" : `${state.runs.length} run${state.runs.length === 1 ? "" : "s"}`;
    ended = false;
    if (first) document.body.dataset.ready = "yes";
  } catch {
    if (!ended) by("status").textContent = "The board has ended: start it again, and use the address it prints.";
    ended = true;
  }
  setTimeout(update, state.reading ? 250 : EVERY_MS);
}

by("tabs").append(...TABS.map(([name, text]) => {
  const button = element("button", {type: "button", id: "tab-" + name, role: "tab"}, text);
  button.setAttribute("aria-controls", "panel-" + name);
  by("panel-" + name).setAttribute("aria-labelledby", "tab-" + name);
  button.addEventListener("click", () => { tab = name; history.replaceState(null, "", "#" + name); showTab(); });
  return button;
}));
by("tabs").addEventListener("keydown", event => {
  const by_ = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (!by_) return;
  const names = TABS.map(([name]) => name);
  tab = names[(names.indexOf(tab) + by_ + names.length) % names.length];
  showTab();
  by("tab-" + tab).focus();
});
by("run-filter").addEventListener("input", event => { runFilter = event.target.value.toLowerCase(); showRuns(); });
by("tag-filter").addEventListener("input", event => { tagFilter = event.target.value.toLowerCase(); showCurves(); });
by("choose-all").addEventListener("click", () => {
  state.runs.filter(run => run.name.toLowerCase().includes(runFilter)).forEach(run => chosen.add(run.id));
  touched.by = true; showRuns(); choose();
});
by("choose-none").addEventListener("click", () => { chosen.clear(); touched.by = true; showRuns(); choose(); });
by("choose-latest").addEventListener("click", () => { chooseLatest(); touched.by = false; showRuns(); choose(); });
for (const id of ["axis", "log"]) by(id).addEventListener("change", redraw);
by("smoothing").addEventListener("input", () => { by("smoothing-value").textContent = by("smoothing").value; redraw(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
if (matchMedia("(max-width: 760px)").matches) by("chooser").open = false;
if (TABS.some(([name]) => "#" + name === location.hash)) tab = location.hash.slice(1);
showTab();
update();
