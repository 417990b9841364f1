// Copies and waits by line: the text of a ledger (observe/ledger/ledger_report.cpp writes it) as tables.

const UNITS = {us: 1, ms: 1e3, s: 1e6, bytes: 1, B: 1, KiB: 1024, MiB: 1 << 20, GiB: 2 ** 30, TiB: 2 ** 40};
const LEDGER_ROW = /^\s*([\d.]+) (us|ms|s)\s{2,}(\d+)\s{2,}(?:-|([\d.]+) (bytes|byte|[KMGT]iB))\s{2,}(.+?)\s{2,}(.+)$/;
const OWN = /, ordered by that line\)$/;

// The parts of a ledger, one for each process: {title, rows: [{time, count, bytes, line, what, advice, own}], rest}: rest is what is no
// row.
function parsedLedger(text) {
  const parts = [];
  const part = title => { parts.push({title, rows: [], rest: []}); return parts.at(-1); };
  for (const line of text.split("\n")) {
    const now = parts.at(-1), found = LEDGER_ROW.exec(line), advice = /^\s+-> (.*)$/.exec(line);
    if (!line.trim() || /^\s*time lost\s+count\s/.test(line)) continue;
    if (/^ledger of /.test(line)) part(line.replace(/^ledger of /, "").replace(/:\s*$/, ""));
    else if (found) {
      const [, time, unit, count, bytes, bytesUnit, place, what] = found;
      const own = OWN.test(what);
      (now ?? part("")).rows.push({
        time: Number(time) * UNITS[unit],
        count: Number(count),
        bytes: bytes ? Number(bytes) * (UNITS[bytesUnit] ?? 1) : 0,
        line: place,
        what: own ? what.replace(OWN, ")") : what,
        advice: "",
        own
      });
    } else if (advice && now?.rows.length) now.rows.at(-1).advice = advice[1];
    else (now ?? part("")).rest.push(line);
  }
  return parts;
}

const LEDGER_COLUMNS = [["time lost", "time"], ["count", "count"], ["bytes", "bytes"], ["line", "line"], ["what", "what"]];

// A table that its headings sort; each row's advice stands under it, whatever the order.
function ledgerTable(rows) {
  const table = element("table", {className: "ledger"});
  let sorted = "time", down = true;
  const fill = focus => {
    const order = (a, b) =>
        typeof a[sorted] === "number" ? a[sorted] - b[sorted] : a[sorted].localeCompare(b[sorted], undefined, {numeric: true});
    const head = LEDGER_COLUMNS.map(([name, key]) => {
      const button = element("button", {type: "button"}, name + (key === sorted ? (down ? " ▼" : " ▲") : ""));
      button.addEventListener("click", () => {
        down = key === sorted ? !down : typeof rows[0][key] === "number";
        sorted = key;
        fill(key);
      });
      button.dataset.column = key;
      const cell = element("th", {scope: "col"}, button);
      cell.setAttribute("aria-sort", key === sorted ? (down ? "descending" : "ascending") : "none");
      return cell;
    });
    const cell = (text, className = "") => element("td", {className}, text);
    // A path breaks behind its folders, not within a name.
    const place = path => element("td", {className: "text place"}, ...path.split(/(?<=\/)/).flatMap((part, i) => i ? [element("wbr"), part] : [part]));
    const body = [...rows].sort((a, b) => down ? -order(a, b) : order(a, b)).flatMap(row => {
      const bytes = row.bytes ? readableBytes(Math.round(row.bytes)) : "–";
      const made = element("tr", {}, cell(readableMicroseconds(row.time)), cell(String(row.count)), cell(bytes), place(row.line),
        cell(row.what, "text"));
      const under = element("td", {colSpan: LEDGER_COLUMNS.length}, row.advice);
      return row.advice ? [made, element("tr", {className: "advice"}, under)] : [made];
    });
    table.replaceChildren(element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
    if (focus) table.querySelector(`[data-column=${focus}]`).focus();
  };
  fill();
  return element("div", {className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Copies and waits by line"}, table);
}

function ledgerFigure(text) {
  const figure = element("figure", {}, element("h3", {}, "Copies and waits by line"));
  const parts = parsedLedger(text);
  for (const {title, rows, rest} of parts) {
    if (title && parts.length > 1) figure.append(element("h4", {}, title));
    const yours = rows.filter(row => !row.own), own = rows.filter(row => row.own);
    if (yours.length) figure.append(ledgerTable(yours));
    else if (own.length) figure.append(note("No line of the program's own waits or copies."));
    if (own.length)
      figure.append(element(
          "details", {},
          element(
              "summary", {},
              `The library's own work, nothing to mend: ${own.length} ${own.length === 1 ? "row" : "rows"}, ${
                  readableMicroseconds(own.reduce((sum, row) => sum + row.time, 0))}`),
          ledgerTable(own)));
    if (rest.length) figure.append(element("pre", {tabIndex: 0}, rest.join("\n")));
  }
  if (!parts.length) figure.append(note("The ledger is empty."));
  return figure;
}
