// Pictures on a canvas: curves, histograms one behind the other, a timeline. They know nothing of where figures come from.
"use strict";

const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colour = index => style("--c" + index % 6);
const isDashed = index => Math.floor(index / 6) % 2 === 1;

function readable(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "nan";
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (Number.isInteger(value) && size < 1e7) return String(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(3);
  return String(Number(value.toPrecision(5)));
}

// About `count` round numbers between two.
function ticks(low, high, count) {
  const step = Math.pow(10, Math.floor(Math.log10((high - low) / count || 1)));
  const wide = [1, 2, 5, 10].map(f => f * step).find(s => (high - low) / s <= count) || step;
  const all = [];
  for (let t = Math.ceil(low / wide) * wide; t <= high + wide * 1e-9 && all.length < 50; t += wide) all.push(Math.abs(t) < wide * 1e-9 ? 0 : t);
  return all;
}

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

// Lines of {x: [], y: [], colour, dashed, faint}. Gives back how places on the canvas and values belong together.
function drawLines(canvas, lines, {log, axis}) {
  const {c, width, height} = prepared(canvas);
  const left = 58, right = width - 10, top = 8, bottom = height - 22;
  const shown = y => y !== null && (!log || y > 0);
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
  for (const line of lines)
    for (let i = 0; i < line.x.length; ++i) {
      if (line.x[i] === null || !shown(line.y[i])) continue;
      x0 = Math.min(x0, line.x[i]);
      x1 = Math.max(x1, line.x[i]);
      const y = log ? Math.log10(line.y[i]) : line.y[i];
      y0 = Math.min(y0, y);
      y1 = Math.max(y1, y);
    }
  c.fillStyle = style("--dim");
  if (x0 > x1) {
    c.fillText(log ? "no values above 0" : "no finite values yet", left, (top + bottom) / 2);
    return null;
  }
  if (x0 === x1) { x0 -= 0.5; x1 += 0.5; }
  if (y0 === y1) { const by = Math.abs(y0) * 0.1 || 0.5; y0 -= by; y1 += by; }
  else { const by = (y1 - y0) * 0.04; y0 -= by; y1 += by; }
  const X = x => left + (x - x0) / (x1 - x0) * (right - left), Y = y => bottom - (y - y0) / (y1 - y0) * (bottom - top);
  c.lineWidth = 1;
  c.textBaseline = "middle";
  c.textAlign = "right";
  for (const t of ticks(y0, y1, 5)) {
    c.strokeStyle = style("--grid");
    c.beginPath();
    c.moveTo(left, Y(t));
    c.lineTo(right, Y(t));
    c.stroke();
    c.fillText(readable(log ? Math.pow(10, t) : t), left - 6, Y(t));
  }
  c.textBaseline = "alphabetic";
  const xs = ticks(x0, x1, Math.max(2, Math.floor((right - left) / 90)));
  xs.forEach((t, i) => {
    c.textAlign = i === 0 && X(t) < left + 24 ? "left" : X(t) > right - 24 ? "right" : "center";
    c.fillText(axisLabel(t, axis), X(t), height - 6);
  });
  c.save();
  c.beginPath();
  c.rect(left, top - 2, right - left, bottom - top + 4);
  c.clip();
  c.lineJoin = "round";
  for (const line of lines) {
    c.strokeStyle = colour(line.colour);
    c.globalAlpha = line.faint ? 0.25 : 1;
    c.lineWidth = line.faint ? 1 : 1.8;
    c.setLineDash(line.dashed ? [5, 4] : []);
    c.beginPath();
    let drawing = false;
    for (let i = 0; i < line.x.length; ++i) {
      if (line.x[i] === null || !shown(line.y[i])) { drawing = false; continue; }
      const x = X(line.x[i]), y = Y(log ? Math.log10(line.y[i]) : line.y[i]);
      const alone = !drawing && (i + 1 >= line.x.length || !shown(line.y[i + 1]));
      if (alone) c.rect(x - 1, y - 1, 2, 2);
      else if (drawing) c.lineTo(x, y);
      else c.moveTo(x, y);
      drawing = true;
    }
    c.stroke();
  }
  c.restore();
  return {toX: pixel => x0 + (pixel - left) / (right - left) * (x1 - x0), X, Y: y => Y(log ? Math.log10(y) : y), top, bottom};
}

function axisLabel(value, axis) {
  if (axis === "step") return readable(value);
  if (axis === "wall") return new Date(value * 1000).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit", second: "2-digit"});
  if (value < 120) return readable(value) + " s";
  return value < 7200 ? readable(value / 60) + " min" : readable(value / 3600) + " h";
}

// Histograms of [{step, buckets: [[from, to, count]]}], the oldest at the back.
function drawHistograms(canvas, histograms, index) {
  const {c, width, height} = prepared(canvas);
  const left = 10, right = width - 50, bottom = height - 22;
  let low = Infinity, high = -Infinity, most = 0;
  for (const h of histograms)
    for (const [from, to, count] of h.buckets) {
      low = Math.min(low, from);
      high = Math.max(high, to);
      most = Math.max(most, count / Math.max(to - from, 1e-300));
    }
  c.fillStyle = style("--dim");
  if (!(low <= high)) return void c.fillText("no values", left, height / 2);
  if (low === high) { low -= 0.5; high += 0.5; most = Math.max(...histograms.flatMap(h => h.buckets.map(b => b[2]))) * 1e300; }
  const X = x => left + (x - low) / (high - low) * (right - left);
  const gap = histograms.length > 1 ? Math.min(22, (bottom - 70) / (histograms.length - 1)) : 0;
  const tall = Math.min(90, bottom - 10 - gap * (histograms.length - 1));
  // The square root, so that one sharp peak does not flatten all others.
  const tallness = (count, wide) => Math.sqrt(Math.min(1, count / Math.max(wide, 1e-300) / most)) * tall;
  histograms.forEach((h, i) => {
    const base = bottom - (histograms.length - 1 - i) * gap;
    c.beginPath();
    c.moveTo(left, base);
    let last = low;
    for (const [from, to, count] of h.buckets) {
      const y = base - tallness(count, to - from);
      if (from > last) { c.lineTo(X(last), base); c.lineTo(X(from), base); }
      last = to;
      c.lineTo(X(from), y);
      c.lineTo(Math.max(X(to), X(from) + 1), y);
    }
    c.lineTo(X(last), base);
    c.lineTo(right, base);
    c.fillStyle = style("--sheet");
    c.fill();
    c.globalAlpha = 0.25 + 0.55 * (i + 1) / histograms.length;
    c.fillStyle = colour(index);
    c.fill();
    c.globalAlpha = 1;
    c.strokeStyle = style("--sheet");
    c.stroke();
    c.fillStyle = style("--dim");
    c.textAlign = "left";
    if (gap >= 11 || i === 0 || i === histograms.length - 1) c.fillText(readable(h.step), right + 6, base);
  });
  c.textAlign = "center";
  for (const t of ticks(low, high, Math.max(2, Math.floor(width / 110)))) c.fillText(readable(t), X(t), height - 6);
}

// A timeline of {length, rows: [{name, events: [[start, length, name, category]]}]}: rows one below the other, events within each other.
function drawTimeline(canvas, timeline) {
  const rowTall = 13, gap = 22, indexes = new Map(), boxes = [];
  const laid = timeline.rows.map(row => {
    const ends = [];
    const events = row.events.slice().sort((a, b) => a[0] - b[0] || b[1] - a[1]).map(([start, length, name, category]) => {
      let depth = 0;
      while (depth < 6 && ends[depth] > start + 1e-6) ++depth;
      ends[depth] = start + length;
      return {start, length, name, category, depth};
    });
    return {name: row.name, events, depth: Math.max(1, ends.length)};
  });
  canvas.style.height = laid.reduce((sum, row) => sum + gap + row.depth * rowTall, 26) + "px";
  const {c, width, height} = prepared(canvas);
  const X = t => t / timeline.length * width;
  let y = 4;
  for (const row of laid) {
    c.fillStyle = style("--dim");
    c.textAlign = "left";
    c.fillText(row.name, 2, y + 11);
    y += gap - 6;
    for (const event of row.events) {
      if (!indexes.has(event.category)) indexes.set(event.category, indexes.size);
      c.fillStyle = colour(indexes.get(event.category));
      const box = {x: X(event.start), y: y + event.depth * rowTall, width: Math.max(0.5, X(event.length)), height: rowTall - 2, event};
      c.fillRect(box.x, box.y, box.width, box.height);
      if (box.width > 40) {
        c.save();
        c.beginPath();
        c.rect(box.x, box.y, box.width - 2, box.height);
        c.clip();
        c.fillStyle = style("--sheet");
        c.fillText(event.name, box.x + 3, box.y + 9.5);
        c.restore();
      }
      boxes.push(box);
    }
    y += row.depth * rowTall + 6;
  }
  c.fillStyle = style("--dim");
  const [unit, name] = timeline.length > 5e6 ? [1e6, " s"] : timeline.length > 5e3 ? [1e3, " ms"] : [1, " µs"];
  for (const t of ticks(0, timeline.length, Math.max(2, Math.floor(width / 110)))) {
    c.textAlign = X(t) < 30 ? "left" : X(t) > width - 30 ? "right" : "center";
    c.fillText(readable(t / unit) + name, X(t), height - 4);
  }
  return (px, py) => boxes.filter(b => px >= b.x - 1 && px <= b.x + b.width + 1 && py >= b.y && py <= b.y + b.height).pop()?.event;
}
