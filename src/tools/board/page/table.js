// The tab of runs and results: a table, a setting against a result, and two runs side by side.
"use strict";

// What a summary says came out of a run; of its other facts all are settings.
const RESULTS = new Set(["accuracy", "seconds", "steps", "interrupted"]);
const LEFT_OUT = new Set(["checkpoint"]);  // a path in the run's own folder
const ALL_IF_NEGATIVE = new Set(["limit-batches", "limit_batches", "limit_train_batches", "limit_val_batches"]);
const LOWER_IS_BETTER = /loss|err(or)?|perplexity|ppl|seconds|time|mse|mae|rmse|nll/i,
      HIGHER_IS_BETTER = /acc|f1|auc|bleu|rouge|precision|recall|iou|score|reward|top\d/i;

let sortBy = null, sortDown = false;
const picked = {x: null, y: null, a: null, b: null};  // of the scatter, and of the comparison

function cellText(name, value) {
  if (value === undefined || value === null) return "";
  if (value === -1 && ALL_IF_NEGATIVE.has(name)) return "all";
  return typeof value === "number" ? readable(value) : String(value);
}

const bare = tag => tag.replace(/^hparam\//, "");
const sameNumber = (x, y) => x === y || Math.abs(x - y) <= 1e-6 * Math.max(Math.abs(x), Math.abs(y));  // a curve's are float32

// Whether two columns say the same: an accuracy as the summary has it, and the last point of its curve.
function sameColumn(a, b, runs) {
  const pairs = runs.map(run => [a.of(run), b.of(run)]);
  return pairs.every(([x, y]) => typeof x === "number" && typeof y === "number" && sameNumber(x, y)) &&
      pairs.some(([x]) => !Number.isInteger(x));
}

// The columns of the table: {name, of: run => value, result, constant, better: 1 for more, -1 for less}.
function columnsOf(runs) {
  const tags = tagsOf("scalars"), facts = [...new Set(runs.flatMap(run => Object.keys(run.facts)))].filter(name => !LEFT_OUT.has(name));
  const last = (run, tag) => run.scalars[tag]?.[1] ?? undefined;
  const measured = [...new Set(tags.map(bare))].filter(name => !isSetting(name));
  const results = measured.map(name => ({name, of: run => last(run, name) ?? last(run, "hparam/" + name) ?? run.facts[name]}));
  for (const name of facts.filter(name => RESULTS.has(name) && !measured.includes(name))) {
    const column = {name, of: run => run.facts[name]}, same = results.find(result => sameColumn(result, column, runs));
    if (same) same.title = `${name} is the same figure`;
    else results.push(column);
  }
  for (const column of results) {
    column.result = true;
    column.better = HIGHER_IS_BETTER.test(column.name) ? 1 : LOWER_IS_BETTER.test(column.name) ? -1 : 0;
  }
  const settings = facts.filter(name => !RESULTS.has(name) && !measured.includes(name)).map(name => ({name, of: run => run.facts[name]}));
  for (const tag of tags.filter(tag => isSetting(tag) && !facts.includes(tag)))
    settings.push({name: tag, title: "its last point", of: run => last(run, tag)});
  for (const column of [...settings, ...results]) {
    column.constant =
        new Set(runs.map(run => JSON.stringify(column.of(run)))).size < 2 && !(column.result && measured.includes(column.name));
    column.numeric = runs.every(run => ["number", "undefined"].includes(typeof column.of(run)));
  }
  return [...settings.sort((a, b) => a.constant - b.constant), ...results];
}

// The runs with the best of a column: none where all have the same, or nobody knows which is better.
function bestOf(column, runs) {
  const values = runs.map(column.of).filter(value => typeof value === "number");
  if (!column.better || values.length < 2) return () => false;
  const best = values.reduce((a, b) => column.better * b > column.better * a ? b : a);
  return values.every(value => value === best) ? () => false : run => column.of(run) === best;
}

function compared(x, y) {
  if (x === undefined || x === null || y === undefined || y === null) return null;
  return typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), undefined, {numeric: true});
}

function showTable() {
  const runs = chosenRuns(), columns = columnsOf(runs);
  by("table-empty").textContent = runs.length ? "" : nothing("results");
  by("panel-table").classList.toggle("empty", !runs.length);
  const shownColumns = [{name: "run", of: titleOf}, ...columns.filter(column => !column.constant)];
  showConstants(columns.filter(column => column.constant), runs);
  showRows(shownColumns, [...runs]);
  showScatter(columns, runs);
  showComparison(columns, runs);
}

function showConstants(constants, runs) {
  by("constants").hidden = !constants.length || !runs.length;
  const pairs = constants.map(column => [column.name, cellText(column.name, column.of(runs[0])) || "none"]);
  by("constants").firstElementChild.textContent =
      `${runs.length > 1 ? "The same in all: " : "Settings: "}${pairs.map(pair => pair.join(" ")).join(" · ")}`;
  by("constants-all").replaceChildren(...pairs.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
}

function showRows(columns, runs) {
  const column = columns.find(({name}) => name === sortBy);
  if (column) runs.sort((a, b) => {
    const x = column.of(a), y = column.of(b), order = compared(x, y);
    return order === null ? (x === undefined || x === null) - (y === undefined || y === null) : sortDown ? -order : order;
  });
  const focused = document.activeElement?.dataset?.column;
  const head = element("tr", {}, ...columns.map(({name, title, result, numeric}) => {
    const button = element("button", {type: "button", title: title ?? ""}, name + (name === sortBy ? (sortDown ? " ▼" : " ▲") : ""));
    button.dataset.column = name;
    button.addEventListener("click", () => { sortDown = sortBy === name && !sortDown; sortBy = name; showTable(); });
    const cell = element("th", {scope: "col", className: (result ? "result " : "") + (numeric ? "" : "text")}, button);
    cell.setAttribute("aria-sort", name === sortBy ? (sortDown ? "descending" : "ascending") : "none");
    return cell;
  }));
  const best = columns.map(column => bestOf(column, runs));
  const body = runs.map(run => element("tr", {}, ...columns.map(({name, of}, i) => {
    const found = of(run), text = cellText(name, found);
    if (i > 0) {
      const cell = element("td", {className: typeof found === "number" ? "" : "text", title: text}, text);
      if (best[i](run)) { cell.classList.add("best"); cell.append(element("span", {title: "the best of the column"}, " ★")); }
      return cell;
    }
    const cell = element("th", {scope: "row", title: text}, swatch(run.id), " ", text);
    if (run.report) cell.append(" ", element("a", {href: "report?run=" + run.id, target: "_blank", rel: "noopener"}, "report"));
    return cell;
  })));
  by("table").replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
  if (focused !== undefined) [...by("table").querySelectorAll("button")].find(button => button.dataset.column === focused)?.focus();
}

// --- As a file. A text that a spreadsheet would take for a formula gets an apostrophe.

function csvCell(value) {
  let text = value === undefined || value === null ? "" : String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
function csvOf(runs) {
  const columns = [{name: "run", of: run => run.name}, ...columnsOf(runs)];
  return [columns.map(column => column.name), ...runs.map(run => columns.map(column => column.of(run)))]
             .map(row => row.map(csvCell).join(","))
             .join("\r\n") +
      "\r\n";
}
by("csv").addEventListener("click", () => {
  const link = element("a", {href: URL.createObjectURL(new Blob([csvOf(chosenRuns())], {type: "text/csv"})), download: "runs.csv"});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
});

// --- A setting against a result

function fillSelect(select, names, wanted) {
  const key = JSON.stringify(names);
  if (select.key !== key) select.replaceChildren(...names.map(name => element("option", {value: name}, name)));
  select.key = key;
  select.value = names.includes(wanted) ? wanted : names[0] ?? "";
  return select.value;
}

function showScatter(columns, runs) {
  const varied = columns.filter(column => !column.constant), results = varied.filter(column => column.result && column.numeric);
  by("scatter").hidden = runs.length < 2 || !results.length || varied.length < 2;
  if (by("scatter").hidden) return;
  const y = fillSelect(by("scatter-y"), results.map(column => column.name), picked.y ?? results.find(column => column.better > 0)?.name);
  const x = fillSelect(by("scatter-x"), varied.map(column => column.name), picked.x);
  const canvas = by("scatter-canvas");
  canvas.of = {
    draw: () => canvas.points =
        drawScatter(canvas, varied.find(column => column.name === x), results.find(column => column.name === y), runs)
  };
  resized.observe(canvas);
  canvas.of.draw();
  canvas.setAttribute("aria-label", `${y} against ${x}, a point for each of ${runs.length} runs; the table has the figures`);
}

function drawScatter(canvas, across, up, runs) {
  const {c, width, height} = prepared(canvas);
  const shown = runs.filter(run => typeof up.of(run) === "number" && across.of(run) !== undefined && across.of(run) !== null);
  canvas.dataset.drawn = String(shown.length);
  if (!shown.length) return void sayOn(c, "no run has both", width, height) ?? [];
  const ys = shown.map(up.of);
  let y0 = Math.min(...ys), y1 = Math.max(...ys);
  if (y1 - y0 <= Math.abs(y0) * 1e-12) { const by = Math.abs(y0) * 0.1 || 0.5; y0 -= by; y1 += by; }
  const box = {top: MARGIN.top, bottom: height - MARGIN.bottom, right: width - MARGIN.right};
  const levels = ticks(y0, y1, Math.max(LEAST_TICKS, Math.floor((box.bottom - box.top) / 36)));
  const texts = levels.values.map(value => tickLabel(value, levels.step));
  box.left = Math.max(36, ...texts.map(text => c.measureText(text).width + 12));
  const most = Math.max(LEAST_TICKS, Math.floor((box.right - box.left) / 76)), inner = 14;
  const xs = shown.map(across.of), low = Math.min(...xs), high = Math.max(...xs), whole = xs.every(Number.isInteger);
  const numbers = xs.every(x => typeof x === "number") && !(whole && high - low < 2);
  const log = numbers && low > 0 && high / low > 30, kinds = [...new Set(xs.map(x => cellText(across.name, x)))].sort();
  const scaled = x => log ? Math.log10(x) : numbers ? x : kinds.indexOf(cellText(across.name, x));
  let x0 = numbers ? scaled(low) : 0, x1 = numbers ? scaled(high) : kinds.length - 1;
  if (x0 === x1) { x0 -= 0.5; x1 += 0.5; }
  const X = x => box.left + inner + (x - x0) / (x1 - x0) * (box.right - box.left - 2 * inner);
  const Y = y => box.bottom - inner - (y - y0) / (y1 - y0) * (box.bottom - box.top - 2 * inner);
  const steps = numbers && !log ? ticks(x0, x1, most, numberSteps(x1 - x0).filter(step => step >= 1 || !whole)) : null;
  const labels = steps ? steps.values.map(value => [X(value), tickLabel(value, steps.step)])
    : log ? logTicks(x0, x1, most).map(value => [X(Math.log10(value)), readable(Number(value.toPrecision(3)))])
      : kinds.slice(0, 2 * most).map((kind, i) => [X(i), kind.length > 14 ? kind.slice(0, 13) + "…" : kind]);
  drawAxes(c, box, labels, levels.values.map((value, i) => [Y(value), texts[i]]), across.name);
  const taken = new Set();
  return shown.map(run => {
    const point = {
      x: X(scaled(across.of(run))),
      y: Y(up.of(run)),
      text: `${titleOf(run)}: ${across.name} ${cellText(across.name, across.of(run))}, ${up.name} ${readable(up.of(run))}`
    };
    const spot = () => `${Math.round(point.x)}:${Math.round(point.y)}`;
    while (taken.has(spot())) point.x += 6;  // beside the one that it equals
    taken.add(spot());
    c.fillStyle = colour(place(run.id));
    c.beginPath();
    c.arc(point.x, point.y, 5, 0, 2 * Math.PI);
    c.fill();
    c.strokeStyle = style("--sheet");
    c.stroke();
    return point;
  });
}

by("scatter-canvas").addEventListener("pointermove", event => {
  const distance = point => Math.hypot(point.x - event.offsetX, point.y - event.offsetY);
  const near = (event.target.points ?? []).reduce((best, point) => best && distance(best) <= distance(point) ? best : point, null);
  by("scatter-told").textContent = near && distance(near) < 24 ? near.text : SCATTER_HINT;
});
const SCATTER_HINT = "The pointer names runs.";
for (const which of ["x", "y"])
  by("scatter-" + which).addEventListener("change", event => {
    picked[which] = event.target.value;
    showTable();
  });

// --- Two runs side by side

function showComparison(columns, runs) {
  by("comparison").hidden = runs.length < 2;
  if (runs.length < 2) return;
  for (const [which, usual] of [["a", runs[0]], ["b", runs.at(-1)]]) {
    const select = by("compare-" + which), key = JSON.stringify(runs.map(run => [run.id, run.name]));
    if (select.key !== key) select.replaceChildren(...runs.map(run => element("option", {value: run.id}, titleOf(run))));
    select.key = key;
    if (!runs.some(run => run.id === picked[which])) picked[which] = usual.id;
    select.value = picked[which];
  }
  const [a, b] = ["a", "b"].map(which => runs.find(run => run.id === picked[which]));
  const rows = columns.map(column => ({column, x: column.of(a), y: column.of(b)})).filter(({x, y}) => x !== undefined || y !== undefined);
  for (const row of rows) row.differs = JSON.stringify(row.x) !== JSON.stringify(row.y);
  rows.sort((one, other) => other.differs - one.differs);
  const only = by("compare-only").checked;
  const head =
      element("tr", {}, ...["", titleOf(a), titleOf(b), "difference"].map(text => element("th", {scope: "col", title: text}, text)));
  const body =
      rows.filter(row => row.differs || !only)
          .map(
              ({column, x, y, differs}) => element(
                  "tr", {className: differs ? "differs" : ""}, element("th", {scope: "row"}, column.name),
                  ...[x, y].map(value => element("td", {title: cellText(column.name, value)}, cellText(column.name, value))),
                  element(
                      "td", {},
                      differs && typeof x === "number" && typeof y === "number" ? (y > x ? "+" : "−") + readable(Math.abs(y - x)) : "")));
  by("compared").replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
}
for (const which of ["a", "b"])
  by("compare-" + which).addEventListener("change", event => {
    picked[which] = Number(event.target.value);
    showTable();
  });
by("compare-only").addEventListener("change", () => showTable());

SHOW.table = showTable;
