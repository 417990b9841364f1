// Drawing on a canvas: ticks, axes, lines. Nothing here knows where figures come from.

const LEAST_TICKS = 3;
const MARGIN = {top: 10, right: 12, bottom: 38, inner: 6};  // inner: between the frame and the first and last point
const TIME_STEPS = [604800, 172800, 86400, 43200, 21600, 10800, 7200, 3600, 1800, 900, 600, 300, 120, 60, 30, 15, 10, 5, 2, 1];

// The canvas in the device's pixels, and its context in the page's.
function prepared(canvas) {
  const width = canvas.clientWidth, height = canvas.clientHeight, scale = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const c = canvas.getContext("2d");
  c.scale(scale, scale);
  c.clearRect(0, 0, width, height);
  c.font = "11.5px system-ui, sans-serif";
  return {c, width, height};
}

// --- Ticks

function multiples(low, high, step, offset) {
  const all = [];
  for (let i = Math.ceil((low - offset) / step - 1e-9); i * step + offset <= high + step * 1e-9 && all.length < 100; ++i)
    all.push(i * step + offset);
  return all;
}

function numberSteps(span) {
  const top = Math.ceil(Math.log10(span));
  return [0, 1, 2, 3].flatMap(down => [10, 5, 2].map(factor => factor * Math.pow(10, top - 1 - down)));
}

// Round numbers between two, as many as `most` where there is a round step that gives so many, but never fewer than three.
function ticks(low, high, most, steps = numberSteps(high - low), offset = 0) {
  let best = null;
  for (const step of steps) {
    const values = multiples(low, high, step, offset);
    if (values.length < LEAST_TICKS || best && values.length > most) continue;
    best = {values, step};
  }
  best ??= {values: [low, (low + high) / 2, high], step: (high - low) / 2};
  if (best.values.length > most && best.values.length >= 2 * LEAST_TICKS - 1) best.values = best.values.filter((_, i) => i % 2 === 0);
  return best;
}

// Values between two powers of ten, given by their exponents: of each decade 1, 2 and 5, or 1 alone, or not of every decade.
function logTicks(low, high, most) {
  const within = (factors, every) => {
    const values = [];
    for (let decade = Math.floor(low); decade <= Math.ceil(high); ++decade)
      for (const factor of factors) {
        const at = decade + Math.log10(factor);
        if (at >= low - 1e-9 && at <= high + 1e-9 && decade % every === 0) values.push(Number(`${factor}e${decade}`));
      }
    return values;
  };
  const fine = within([1, 2, 5], 1);
  if (fine.length < LEAST_TICKS) return ticks(Math.pow(10, low), Math.pow(10, high), most).values;
  let best = fine;
  for (let every = 1; every < 400 && best.length > most; ++every) {
    const fewer = within([1], every);
    if (fewer.length < LEAST_TICKS) break;
    best = fewer;
  }
  return best;
}

// A number of an axis with as many digits as its steps need.
function tickLabel(value, step) {
  if (Math.abs(value) < step * 1e-6) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)) + 1e-9), fine = Math.floor(Math.log10(step) + 1e-9);
  if (size >= 6 || size < -3) return value.toExponential(Math.min(8, Math.max(0, size - fine))).replace("e+", "e");
  return value.toFixed(Math.min(12, Math.max(0, -fine)));
}

// --- Axes. Along one of time, x is in seconds.

const AXES = {step: "step", relative: "time since the start", wall: "time of day", ago: "minutes ago"};

const CLOCK = {hour: "2-digit", minute: "2-digit", hourCycle: "h23"};
function timeOfDay(value, step = 1) {
  const time = new Date(value * 1000);
  if (step >= 86400) return time.toLocaleDateString([], {month: "short", day: "numeric"});
  return time.toLocaleTimeString([], step >= 60 ? CLOCK : {...CLOCK, second: "2-digit"});
}

function axisLabel(value, axis) {
  if (axis === "step") return "step " + readable(Math.round(value));
  if (axis === "wall") return timeOfDay(value);
  if (value < 120) return readable(Number(value.toFixed(2))) + " s";
  return value < 7200 ? readable(Number((value / 60).toPrecision(4))) + " min" : readable(Number((value / 3600).toPrecision(4))) + " h";
}

// The labels of a horizontal axis: [[value, text]].
function labelsAlong(axis, low, high, most) {
  const span = high - low;
  if (axis === "step") {
    const {values, step} = ticks(low, high, most, numberSteps(span).filter(step => step >= 1));
    return values.map(value => [value, tickLabel(value, step)]);
  }
  const coarse = TIME_STEPS.filter(step => step <= span);
  const steps =
      span < 3 ? numberSteps(span) : [...numberSteps(span / 86400).map(step => step * 86400).filter(step => step > 604800), ...coarse];
  const zone = axis === "wall" ? new Date(low * 1000).getTimezoneOffset() * 60 : 0;
  const {values, step} = ticks(low, high, most, steps, zone);
  if (axis === "wall") return values.map(value => [value, timeOfDay(value, step)]);
  if (axis === "ago") return values.map(value => [value, tickLabel(-value / 60, step / 60)]);
  const [unit, name] = high < 120 ? [1, "s"] : high < 7200 ? [60, "min"] : [3600, "h"];
  return values.map(
      value => [value, tickLabel(value / unit, Math.min(1, step / unit)).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") + " " + name]);
}

// Lines across, labels on both axes and the name of the lower one. xs and ys are [[pixel, text]].
function drawAxes(c, {left, right, top, bottom}, xs, ys, name) {
  c.lineWidth = 1;
  c.strokeStyle = style("--grid");
  c.fillStyle = style("--dim");
  c.textBaseline = "middle";
  c.textAlign = "right";
  for (const [y, text] of ys) {
    c.beginPath();
    c.moveTo(left, y);
    c.lineTo(right, y);
    c.stroke();
    c.fillText(text, left - 6, y);
  }
  c.textBaseline = "alphabetic";
  c.strokeStyle = style("--rule");
  for (const [x, text] of xs) {
    c.beginPath();
    c.moveTo(x, bottom);
    c.lineTo(x, bottom + 4);
    c.stroke();
    const half = c.measureText(text).width / 2;
    c.textAlign = "left";
    c.fillText(text, Math.max(0, Math.min(x - half, right + MARGIN.right - 2 * half)), bottom + 16);
  }
  c.textAlign = "center";
  c.fillText(name, (left + right) / 2, bottom + 32);
}

// --- Lines

// What an exponential moving average makes of values, without its bias towards zero at the start; what is no number is left out.
function smoothed(values, weight) {
  if (!weight) return values;
  let last = 0, count = 0;
  return values.map(value => {
    if (value === null) return null;
    last = last * weight + (1 - weight) * value;
    ++count;
    return last / (1 - Math.pow(weight, count));
  });
}

// The least and the greatest of the lines' points that are within a range of x.
function extent(lines, shows, log, range) {
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
  for (const line of lines)
    for (let i = 0; i < line.x.length; ++i) {
      const x = line.x[i];
      if (x === null || !shows(line.y[i]) || range && (x < range[0] || x > range[1])) continue;
      x0 = Math.min(x0, x);
      x1 = Math.max(x1, x);
      const y = log ? Math.log10(line.y[i]) : line.y[i];
      y0 = Math.min(y0, y);
      y1 = Math.max(y1, y);
    }
  return {x0, x1, y0, y1};
}

function sayOn(c, text, width, height) {
  c.fillStyle = style("--dim");
  c.textAlign = "center";
  c.fillText(text, width / 2, height / 2);
}

// Lines of {x: [], y: [], colour, dash, dashOffset, faint}. `range`: of x, else all; `bounds`: of y, else what fits; `empty`: what is said
// where there is nothing. Gives back how places on the canvas and values belong together.
function drawLines(canvas, lines, {log = false, axis, range = null, bounds = null, empty}) {
  const {c, width, height} = prepared(canvas);
  const shows = y => y !== null && (!log || y > 0);
  let {x0, x1, y0, y1} = extent(lines, shows, log, range);
  canvas.dataset.ticks = "[[],[]]";
  if (x0 > x1) return void sayOn(c, empty, width, height);
  if (range) [x0, x1] = range;
  if (bounds) [y0, y1] = bounds;
  const least = axis === "step" ? 2 : 0;  // steps are whole numbers, and three of them are named
  if (x1 - x0 <= least) [x0, x1] = least && !range ? [x0 - 1, x1 + 1] : x1 > x0 ? [x0, x1] : [x0 - 0.5, x1 + 0.5];
  if (y1 - y0 <= Math.abs(y0) * 1e-12) { const by = Math.abs(y0) * 0.1 || 0.5; y0 -= by; y1 += by; }
  const top = MARGIN.top, bottom = height - MARGIN.bottom, right = width - MARGIN.right;
  const most = Math.max(LEAST_TICKS, Math.floor((bottom - top) / 36));
  const linear = log ? null : ticks(y0, y1, most);
  const ys = log ? logTicks(y0, y1, most).map(value => [Math.log10(value), readable(Number(value.toPrecision(3)))])
    : linear.values.map(value => [value, tickLabel(value, linear.step)]);
  const left = Math.max(36, ...ys.map(([, text]) => c.measureText(text).width + 12));
  const X = x => left + MARGIN.inner + (x - x0) / (x1 - x0) * (right - left - 2 * MARGIN.inner);
  const Y = y => bottom - MARGIN.inner - (y - y0) / (y1 - y0) * (bottom - top - 2 * MARGIN.inner);
  const toX = pixel => x0 + (pixel - left - MARGIN.inner) / (right - left - 2 * MARGIN.inner) * (x1 - x0);
  const xs = labelsAlong(axis, x0, x1, Math.max(LEAST_TICKS, Math.floor((right - left) / 76)));
  canvas.dataset.ticks = JSON.stringify([xs.map(([, text]) => text), ys.map(([, text]) => text)]);  // for tests
  drawAxes(c, {left, right, top, bottom}, xs.map(([x, text]) => [X(x), text]), ys.map(([y, text]) => [Y(y), text]), AXES[axis]);
  c.save();
  c.beginPath();
  c.rect(left, top - 4, right - left + 4, bottom - top + 8);
  c.clip();
  c.lineJoin = "round";
  for (const line of lines) {
    c.strokeStyle = c.fillStyle = colour(line.colour);
    c.globalAlpha = line.faint ? 0.25 : 1;
    c.lineWidth = line.faint ? 1 : 1.8;
    c.setLineDash(line.dash);
    c.lineDashOffset = line.dashOffset ?? 0;
    c.beginPath();
    const alone = [];
    let drawing = false;
    for (let i = 0; i < line.x.length; ++i) {
      if (line.x[i] === null || !shows(line.y[i])) { drawing = false; continue; }
      const x = X(line.x[i]), y = Y(log ? Math.log10(line.y[i]) : line.y[i]);
      if (drawing) c.lineTo(x, y);
      else if (i + 1 >= line.x.length || !shows(line.y[i + 1])) alone.push([x, y]);
      else c.moveTo(x, y);
      drawing = true;
    }
    c.stroke();
    // A point that no line leads to or from.
    for (const [x, y] of alone) {
      c.beginPath();
      c.arc(x, y, 3.5, 0, 2 * Math.PI);
      c.fill();
    }
  }
  c.restore();
  return {toX, X, Y: y => Y(log ? Math.log10(y) : y), left, right, top, bottom, x0, x1};
}
