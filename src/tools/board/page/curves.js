// The tab of curves: a chart for each tag, with the chosen runs in it.

const POINTS = 400, POINTS_ZOOMED = 2000, ROWS = 12, NEAR = 4;
// Curves of what a run was told, not of what came out: they come last, folded.
const SETTING =
    /^(lr|learning[_-]?rate|lr[_-].*|momentum|weight[_-]?decay|betas?\d?|epoch|batch[_-]?size|temperature|(grad|loss)[_-]scale|scale)$/i;

const view = {filter: "", axis: "step", smoothing: 0, log: false, logs: new Set()};  // logs: tags whose own scale is the other one
const figures = new Map();  // by tag
const seen = new IntersectionObserver(entries => {
  for (const entry of entries) {
    const figure = entry.target.of;
    figure.visible = entry.isIntersecting;
    if (figure.visible) figure.refresh();
  }
}, {rootMargin: "200px"});
const resized = new ResizeObserver(entries => requestAnimationFrame(() => entries.forEach(entry => entry.target.of.draw())));

const lastPart = tag => tag.slice(tag.lastIndexOf("/") + 1);
const isSetting = tag => SETTING.test(lastPart(tag));
const xText = (x, axis) => axis === "step" ? String(x) : axisLabel(x, axis);

// Whether two curves are the same, point for point, is seen by this.
function fingerprint({steps, values}) {
  return steps.length + ":" + values.reduce((sum, value, i) => sum + (value ?? 0.5) * (i + 1) + steps[i], 0);
}

function nearest(xs, x) {
  let low = 0, high = xs.length - 1;
  while (low < high) { const middle = (low + high) >> 1; (xs[middle] ?? -Infinity) < x ? low = middle + 1 : high = middle; }
  return low > 0 && Math.abs(xs[low - 1] - x) < Math.abs(xs[low] - x) ? low - 1 : low;
}

function chartButton(text, label, act) {
  const button = element("button", {type: "button"}, text);
  button.setAttribute("aria-label", label);
  button.addEventListener("click", act);
  return button;
}

class Curves {
  constructor(tag) {
    this.tag = tag;
    this.curves = this.whole = [];  // as drawn, and all of them where a zoomed chart has asked for a part
    this.twins = [];
    this.lines = [];
    this.loading = true;
    this.asked = 0;
    this.range = null;  // of x, where it is zoomed
    this.canvas = element("canvas", {tabIndex: 0, role: "img"});
    this.guide = element("span", {className: "guide", hidden: true});
    this.brush = element("span", {className: "brush", hidden: true});
    this.marks = element("span", {className: "marks"});
    this.tip = element("div", {className: "tip", hidden: true});
    this.tip.setAttribute("aria-live", "polite");
    this.told = element("p", {className: "note", hidden: true});
    this.table = element("div", {className: "scroll"});
    this.details = element("details", {}, element("summary", {}, "Figures"), this.table);
    this.log = chartButton("log", `logarithmic scale of ${tag}`, () => {
      if (!view.logs.delete(tag)) view.logs.add(tag);
      this.draw();
      keepAddress();
    });
    this.fit = chartButton("fit", `all of ${tag}`, () => this.zoom(null));
    this.wide = chartButton("wide", `${tag} over the whole width`, () => {
      this.wide.setAttribute("aria-pressed", this.figure.classList.toggle("wide"));
    });
    this.wide.setAttribute("aria-pressed", false);
    this.plot = element("div", {className: "plot"}, this.canvas, this.guide, this.brush, this.marks);
    this.figure = element("figure", {}, element("div", {className: "head"}, element("h3", {}, tag), this.fit, this.log, this.wide),
      this.plot, this.tip, this.told, this.details);
    this.figure.of = this.canvas.of = this;
    this.listen();
    this.details.addEventListener("toggle", () => this.tabulate());
    seen.observe(this.figure);
    resized.observe(this.canvas);
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", event => {
      if (event.pointerType === "touch") return this.point(event.offsetX, event.offsetY);
      if (event.button !== 0 || !this.scale) return;
      this.from = event.offsetX;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      if (this.from === undefined) return this.point(event.offsetX, event.offsetY);
      const [left, right] = this.within(this.from, event.offsetX);
      this.brush.hidden = right - left < NEAR;
      this.brush.style.left = left + "px";
      this.brush.style.width = right - left + "px";
    });
    canvas.addEventListener("pointerup", event => {
      const from = this.from;
      this.from = undefined;
      this.brush.hidden = true;
      if (from === undefined || !this.scale) return;
      const [left, right] = this.within(from, event.offsetX);
      if (right - left >= 2 * NEAR) this.zoom([this.scale.toX(left), this.scale.toX(right)]);
    });
    canvas.addEventListener("pointercancel", () => { this.from = undefined; this.brush.hidden = true; });
    canvas.addEventListener("dblclick", () => this.zoom(null));
    canvas.addEventListener("pointerleave", event => { if (event.pointerType !== "touch") this.leave(); });
    canvas.addEventListener("blur", () => this.leave());
    canvas.addEventListener("keydown", event => this.press(event));
  }

  press(event) {
    if (!this.scale || event.ctrlKey || event.metaKey || event.altKey) return;
    const {left, right, x0, x1} = this.scale, at = this.at ?? (left + right) / 2;
    const about = this.scale.toX(Math.min(right, Math.max(left, at)));
    const zoomed = factor => [about + (x0 - about) * factor, about + (x1 - about) * factor];
    const act = {
      ArrowLeft: () => this.point(Math.max(left, at - 12)),
      ArrowRight: () => this.point(Math.min(right, at + 12)),
      Home: () => this.point(left + MARGIN.inner),
      End: () => this.point(right - MARGIN.inner),
      "+": () => this.zoom(zoomed(0.5)),
      "=": () => this.zoom(zoomed(0.5)),
      "-": () => this.zoom(this.range && zoomed(2)),
      "0": () => this.zoom(null),
      Escape: () => this.leave(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  within(a, b) {
    const {left, right} = this.scale;
    return [Math.max(left, Math.min(a, b)), Math.min(right, Math.max(a, b))];
  }

  // The tag's runs, and how far they are: what has not changed is not asked for again.
  wanted() {
    return chosenRuns().filter(run => this.tag in run.scalars);
  }

  // The steps that a zoomed chart shows, where more of their points can be had than of the whole curve.
  zoomedSteps() {
    if (!this.range || this.whole.every(curve => curve.points <= POINTS)) return null;
    let from = Infinity, to = -Infinity;
    for (const curve of this.whole) {
      const x = this.along(curve);
      curve.steps.forEach((step, i) => {
        if (!(Math.max(x[i], x[i + 1] ?? x[i]) >= this.range[0]) || !(Math.min(x[i], x[i - 1] ?? x[i]) <= this.range[1])) return;
        from = Math.min(from, step);
        to = Math.max(to, step);
      });
    }
    return from <= to ? {from, to} : null;
  }

  async refresh() {
    const runs = this.wanted(), key = runs.map(run => run.id + ":" + run.scalars[this.tag]).join() + JSON.stringify(this.steps ?? null);
    if (!this.visible || key === this.key) return;
    this.key = key;
    const asked = ++this.asked;
    this.loading = true;
    try {
      const found = await ask(
          "curves", {tag: this.tag, runs: runs.map(run => run.id).join(), points: this.steps ? POINTS_ZOOMED : POINTS, ...this.steps});
      if (asked !== this.asked) return;  // a later answer is on its way
      this.curves = found;
    } catch {
      if (asked === this.asked) this.key = null;
      return;
    }
    this.loading = false;
    if (!this.steps) this.whole = this.curves;
    for (const curve of this.curves) {
      curve.print = fingerprint(curve);
      curve.first = (this.whole.find(whole => whole.run === curve.run) ?? curve).times.find(time => time !== null);
    }
    this.draw();
    this.tabulate();
  }

  along(curve) {
    if (view.axis === "step") return curve.steps;
    return view.axis === "wall" ? curve.times : curve.times.map(time => time === null ? null : time - curve.first);
  }

  zoom(range) {
    if (range && view.axis === "step") {
      range = [Math.floor(range[0]), Math.ceil(range[1])];
      if (range[1] - range[0] < 2) range = [range[0] - 1, range[0] + 1];
    }
    this.range = range;
    this.steps = this.zoomedSteps();
    this.draw();
    this.refresh();
  }

  draw() {
    const log = view.log !== view.logs.has(this.tag), lines = [], twins = new Map();
    const curves = this.curves.filter(curve => chosen.has(curve.run));
    for (const curve of curves) twins.set(curve.print, [...twins.get(curve.print) ?? [], curve.run]);
    for (const curve of curves) {
      const at = place(curve.run), same = twins.get(curve.print);
      const look = {run: curve.run, x: this.along(curve), colour: at, dash: dashes(at)};
      // Of curves that lie on one another each is drawn a piece in turn.
      if (same.length > 1) Object.assign(look, {dash: [8, 8 * (same.length - 1)], dashOffset: -8 * same.indexOf(curve.run)});
      if (view.smoothing) lines.push({...look, y: curve.values, faint: true});
      lines.push({...look, y: smoothed(curve.values, view.smoothing)});
    }
    this.lines = lines.filter(line => !line.faint);
    const none = this.range ? "nothing here" : log ? "no values above 0" : "no finite values yet";
    const empty = this.loading && !lines.length ? "loading…" : none;
    this.scale = drawLines(this.canvas, lines, {log, axis: view.axis, range: this.range, empty});
    this.canvas.setAttribute("aria-label", `${this.tag}: ` + this.lines.slice(0, 10).map(line =>
      `${nameOf(line.run)} ends at ${readable(line.y.at(-1))}`).join("; ") + ". Arrow keys read values, plus and minus zoom, 0 shows all.");
    this.canvas.dataset.drawn = String(this.lines.length);
    this.canvas.dataset.empty = this.scale ? "" : empty;
    this.log.setAttribute("aria-pressed", log);
    this.fit.hidden = !this.range;
    this.twins = [...twins.values()].filter(same => same.length > 1);
    this.tell();
    if (!this.tip.hidden) this.point(this.at, this.height);
  }

  // What the chart alone does not show.
  tell() {
    const of = chosen.size, without = of - this.wanted().length, lines = [];
    if (without > 0 && !state.reading) lines.push(`${without} of ${of} runs ${without === 1 ? "has" : "have"} none of it`);
    for (const same of this.twins)
      lines.push(same.slice(0, 4).map(nameOf).join(" = ") + (same.length > 4 ? ` = ${same.length - 4} more` : "") + " (the same values)");
    this.told.textContent = lines.join(" · ");
    this.told.hidden = !lines.length;
  }

  leave() {
    this.at = undefined;
    this.tip.hidden = this.guide.hidden = true;
    this.marks.replaceChildren();
  }

  // Reads the values at a place of the canvas. A run is read where it has points on both sides, or one at most a few pixels away.
  point(pixel, height) {
    this.at = pixel;
    this.height = height;
    if (!this.scale || pixel === undefined) return this.leave();
    const {toX, X, Y, top, bottom, left, right} = this.scale, x = toX(pixel), near = Math.abs(toX(pixel + NEAR) - x);
    let rows = [];
    for (const line of this.lines) {
      const i = nearest(line.x, x);
      if (line.x[i] === undefined || line.x[i] === null) continue;
      const ends = line.x.filter(at => at !== null);
      if (x < ends[0] - near || x > ends.at(-1) + near) continue;
      rows.push({line, x: line.x[i], y: line.y[i], py: line.y[i] === null ? NaN : Y(line.y[i])});
    }
    const more = rows.length - ROWS;
    if (more > 0 && height !== undefined) rows.sort((a, b) => Math.abs(a.py - height) - Math.abs(b.py - height));
    rows = rows.slice(0, ROWS).sort((a, b) => (b.y ?? -Infinity) - (a.y ?? -Infinity));
    this.tip.replaceChildren(element("b", {}, axisLabel(x, view.axis)), ...rows.map(({line, x, y}) => {
      const value = element("b", {}, readable(y));
      return element("div", {}, swatch(line.run), element("span", {}, nameOf(line.run)), value, element("i", {}, xText(x, view.axis)));
    }), ...more > 0 ? [element("em", {}, `and ${more} more`)] : rows.length ? [] : [element("em", {}, "no run has values here")]);
    this.guide.hidden = false;
    this.guide.style.left = pixel + "px";
    this.guide.style.top = top + "px";
    this.guide.style.height = bottom - top + "px";
    this.marks.replaceChildren(...rows.filter(row => Number.isFinite(row.py) && X(row.x) >= left && X(row.x) <= right).map(row => {
      const mark = element("span");
      mark.style.left = X(row.x) + "px";
      mark.style.top = row.py + "px";
      mark.style.borderColor = colour(row.line.colour);
      return mark;
    }));
    this.tip.hidden = false;
    this.placeTip();
  }

  // Under the chart, or above it where there is no room below: never over it.
  placeTip() {
    const chart = this.plot.getBoundingClientRect(), height = this.tip.offsetHeight;
    const above = chart.bottom + 6 + height > innerHeight && chart.top - 6 - height > 0;
    this.tip.style.top = (above ? this.plot.offsetTop - 6 - height : this.plot.offsetTop + this.plot.offsetHeight + 6) + "px";
  }

  tabulate() {
    if (!this.details.open) return;
    const head =
        element("tr", {}, ...["run", "points", "last step", "last", "least", "greatest"].map(text => element("th", {scope: "col"}, text)));
    const rows = this.curves.map(curve => {
      const finite = curve.values.filter(value => value !== null);
      const least = finite.reduce((a, b) => Math.min(a, b), Infinity), greatest = finite.reduce((a, b) => Math.max(a, b), -Infinity);
      return element(
          "tr", {}, element("th", {scope: "row"}, nameOf(curve.run)),
          ...[curve.points, curve.steps.at(-1), readable(curve.values.at(-1)), finite.length ? readable(least) : "",
              finite.length ? readable(greatest) : ""]
              .map(text => element("td", {}, String(text))));
    });
    this.table.replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  }
}

// Losses come first, then other results, by group; settings last.
const rank = tag => /loss/i.test(lastPart(tag)) ? 0 : 1;

// A result that add_hparams noted is one point, and stands in the table.
function isCurve(tag, runs) {
  return !tag.startsWith("hparam/") || runs.some(run => run.scalars[tag]?.[2] > 1);
}

function groupsOf(tags) {
  const groups = new Map(), settings = [];
  for (const tag of tags) {
    if (isSetting(tag)) { settings.push(tag); continue; }
    const group = tag.includes("/") ? tag.slice(0, tag.indexOf("/")) : "";
    groups.set(group, [...groups.get(group) ?? [], tag]);
  }
  for (const group of groups.values()) group.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const sorted = [...groups].sort(([a, x], [b, y]) => (a !== "") - (b !== "") || rank(x[0]) - rank(y[0]) || a.localeCompare(b));
  return {groups: sorted, settings};
}

function showCurves() {
  const runs = chosenRuns();
  const tags = tagsOf("scalars").filter(tag => tag.toLowerCase().includes(view.filter.toLowerCase()) && isCurve(tag, runs));
  for (const [tag, figure] of figures)
    if (!tags.includes(tag)) { seen.unobserve(figure.figure); resized.unobserve(figure.canvas); figures.delete(tag); }
  const key = JSON.stringify(tags);
  if (by("curves").key !== key) {
    by("curves").key = key;
    const grid = names => element("div", {className: "grid"}, ...names.map(tag => {
      if (!figures.has(tag)) figures.set(tag, new Curves(tag));
      return figures.get(tag).figure;
    }));
    const {groups, settings} = groupsOf(tags), open = by("curves").querySelector(".settings")?.open ?? false;
    by("curves").replaceChildren(...groups.flatMap(([group, names]) => [...group ? [element("h2", {}, group)] : [], grid(names)]),
      ...settings.length ? [element("details", {className: "settings", open: open || !groups.length},
        element("summary", {}, `Settings: ${settings.slice(0, 6).join(", ")}${settings.length > 6 ? ", …" : ""}`), grid(settings))] : []);
  }
  if (!tags.length) by("curves").replaceChildren(note(nothing("curves")));
  figures.forEach(figure => { figure.refresh(); figure.tell(); });
}

// After a change of what is shown of them.
function redrawCurves(axisChanged = false) {
  for (const figure of figures.values()) {
    if (axisChanged) { figure.range = figure.steps = null; figure.refresh(); }
    if (figure.visible) figure.draw();
  }
}
