// The tabs of images, histograms and texts.

// --- Images: a row of tiles for each run

const MOST_TAGS = 200;
let imageFilter = "";

const showImages = () => once("images", async () => {
  const all = tagsOf("images"), tags = all.filter(tag => tag.toLowerCase().includes(imageFilter)).slice(0, MOST_TAGS);
  const runs = chosenRuns().filter(run => run.images.some(tag => tags.includes(tag)));
  const found = await Promise.all(tags.map(tag => ask("pictures", {tag, runs: runs.map(run => run.id).join()})));
  const parts = runs.map(
      run => element(
          "section", {}, element("h2", {}, swatch(run.id), " ", titleOf(run)),
          element(
              "div", {className: "tiles"},
              ...tags.flatMap((tag, i) => found[i].filter(each => each.run === run.id).map(each => tile(tag, each))))));
  if (all.length && !parts.length) parts.push(note("No image has such a tag."));
  if (tags.length === MOST_TAGS) parts.push(note(`The first ${MOST_TAGS} tags of ${all.length}: the filter finds others.`));
  return parts;
}, imageFilter);

function tile(tag, {run, steps}) {
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
  return element("figure", {}, picture, element("p", {title: tag}, tag), step, slider);
}

by("image-filter").addEventListener("input", event => { imageFilter = event.target.value.toLowerCase(); showImages(); });
by("image-size").addEventListener("input", event => by("images").style.setProperty("--tile", event.target.value + "px"));

// --- Histograms: a chart for each tag; the runs one below the other, each with its steps one behind the other

const BINS = 60, MOST_RIDGES = 60, RIDGE = 18, PEAK = 56, RUN_TITLE = 18;

// The shares of the values in even bins between two; a bucket of the file is spread evenly over those that it lies in.
function evenBins(buckets, low, high) {
  const shares = new Array(BINS).fill(0), wide = (high - low) / BINS, total = buckets.reduce((sum, bucket) => sum + bucket[2], 0) || 1;
  const binOf = x => Math.max(0, Math.min(BINS - 1, Math.floor((x - low) / wide)));
  for (const [from, to, count] of buckets) {
    const first = binOf(from), last = binOf(to);
    for (let bin = first; bin <= last; ++bin) {
      const inside = Math.min(to, low + (bin + 1) * wide) - Math.max(from, low + bin * wide);
      shares[bin] += count / total * (first === last ? 1 : Math.max(0, inside) / (to - from));
    }
  }
  return shares;
}

class Histograms {
  constructor(tag, runs) {
    this.tag = tag;
    this.runs = runs;
    this.ridges = null;
    this.canvas = element("canvas", {role: "img", "aria-label": tag});
    this.told = element("p", {className: "note told"});
    this.figure = element("figure", {}, element("h3", {}, tag), this.canvas, this.told);
    this.figure.of = this.canvas.of = this;
    this.canvas.addEventListener("pointermove", event => this.told.textContent = this.at(event.offsetX, event.offsetY));
    seen.observe(this.figure);
    resized.observe(this.canvas);
  }

  async refresh() {
    if (this.asked) return;
    this.asked = true;
    const all = await Promise.all(this.runs.map(run => ask("histograms", {tag: this.tag, run: run.id}).catch(() => null)));
    const each = Math.max(1, Math.floor(MOST_RIDGES / this.runs.length)),
          buckets = all.flatMap(found => (found ?? []).flatMap(({buckets}) => buckets));
    let low = buckets.reduce((least, [from]) => Math.min(least, from), Infinity),
        high = buckets.reduce((most, [, to]) => Math.max(most, to), -Infinity);
    if (low === high) { low -= 0.5; high += 0.5; }
    [this.low, this.high] = [low, high];
    this.ridges = this.runs.flatMap((run, i) => {
      const found = all[i] ?? [], count = Math.min(each, found.length);
      const some =
          Array.from({length: count}, (_, k) => found[count === 1 ? found.length - 1 : Math.round(k * (found.length - 1) / (count - 1))]);
      return some.map(
          ({step, buckets}, k) =>
              ({run, step, newest: (k + 1) / count, first: k === 0, shares: low < high ? evenBins(buckets, low, high) : []}));
    });
    this.canvas.setAttribute("aria-label", `${this.tag}, from ${readable(low)} to ${readable(high)}: ` + this.runs.map((run, i) =>
      `${titleOf(run)}, ${all[i]?.length ?? 0} steps`).join("; "));
    this.canvas.style.height = this.height() + "px";
    this.draw();
  }

  height() {
    return MARGIN.bottom + this.ridges.reduce((sum, ridge) => sum + (ridge.first ? RUN_TITLE + PEAK : RIDGE), 0);
  }

  draw() {
    const {c, width, height} = prepared(this.canvas);
    if (!this.ridges || !(this.low < this.high)) return void sayOn(c, this.ridges ? "no values" : "loading…", width, height);
    const left = 10, right = width - 70, bottom = height - MARGIN.bottom;
    const X = x => left + (x - this.low) / (this.high - this.low) * (right - left), wide = (right - left) / BINS;
    const most = Math.max(...this.ridges.flatMap(ridge => ridge.shares));
    const marks = ticks(this.low, this.high, Math.max(LEAST_TICKS, Math.floor((right - left) / 76)));
    drawAxes(c, {left, right, top: 0, bottom}, marks.values.map(value => [X(value), tickLabel(value, marks.step)]), [], "value");
    let base = 0;
    for (const ridge of this.ridges) {
      base += ridge.first ? RUN_TITLE + PEAK : RIDGE;
      ridge.base = base;
      c.beginPath();
      c.moveTo(left, base);
      ridge.shares.forEach((share, bin) => {
        const y = base - Math.sqrt(share / most) * PEAK;  // so that one peak does not flatten all others
        c.lineTo(left + bin * wide, y);
        c.lineTo(left + (bin + 1) * wide, y);
      });
      c.lineTo(right, base);
      c.fillStyle = style("--sheet");
      c.fill();
      c.globalAlpha = 0.25 + 0.55 * ridge.newest;
      c.fillStyle = colour(place(ridge.run.id));
      c.fill();
      c.globalAlpha = 1;
      c.strokeStyle = style("--sheet");
      c.stroke();
      c.fillStyle = style("--dim");
      c.textAlign = "left";
      c.fillText((ridge.first ? "step " : "") + readable(ridge.step), right + 6, base);
      if (ridge.first) c.fillText(titleOf(ridge.run), left, base - PEAK - 4);
    }
    this.X = X;
    this.wide = wide;
  }

  at(x, y) {
    if (!this.X) return "";
    const ridge = this.ridges.find(ridge => y <= ridge.base) ?? this.ridges.at(-1), bin = Math.floor((x - this.X(this.low)) / this.wide);
    if (!ridge || bin < 0 || bin >= BINS) return "";
    const edge = i => readable(Number((this.low + i * (this.high - this.low) / BINS).toPrecision(4)));
    return `${titleOf(ridge.run)}, step ${ridge.step}: ${readable(Number((100 * ridge.shares[bin]).toPrecision(3)))} % from ${
        edge(bin)} to ${edge(bin + 1)}`;
  }
}
const showHistograms = () => once("histograms", async () => {
  const figures = tagsOf("histograms").map(tag => new Histograms(tag, chosenRuns().filter(run => run.histograms.includes(tag))).figure);
  return figures.length ? [element("div", {className: "grid"}, ...figures)] : [];
});

// --- Texts: equal ones once, with the runs that have them

const withoutFences = text => text.replace(/^\s*```[^\n]*\n([\s\S]*?)\n?```\s*$/, "$1");

const showTexts = () => once("texts", async () => {
  const runs = chosenRuns().filter(run => run.texts), found = await Promise.all(runs.map(run => ask("texts", {run: run.id})));
  const texts = new Map();
  runs.forEach((run, i) => {
    for (const [tag, text] of Object.entries(found[i] ?? {})) {
      const key = JSON.stringify([tag, text]);
      if (!texts.has(key)) texts.set(key, {tag: tag.replace(/\/text_summary$/, ""), text: withoutFences(text), runs: []});
      texts.get(key).runs.push(run);
    }
  });
  return [...texts.values()]
      .sort((a, b) => a.tag.localeCompare(b.tag))
      .map(
          ({tag, text, runs: with_it}) => element(
              "figure", {}, element("h3", {}, tag),
              element("p", {className: "note"}, ...with_it.flatMap((run, i) => [i ? ", " : "", swatch(run.id), " ", titleOf(run)])),
              element("pre", {tabIndex: 0}, text)));
});

Object.assign(SHOW, {images: showImages, histograms: showHistograms, texts: showTexts});
