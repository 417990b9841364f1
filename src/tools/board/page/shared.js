// What all parts of the page use: elements, questions to the server, the runs and their colours, numbers as text. Names that come from runs
// are written as text only, never as HTML. Two scripts are made of the files here (assets_embed.S).
"use strict";

const by = id => document.getElementById(id);

let state = {version: 0, runs: [], reading: true};
const chosen = new Set(), places = new Map();  // ids of runs; a run's place decides its colour

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

// --- Runs

const chosenRuns = () => state.runs.filter(run => chosen.has(run.id));
const place = id => { if (!places.has(id)) places.set(id, places.size); return places.get(id); };
const titleOf = run => run.name === "." ? "(the folder itself)" : run.name;
const nameOf = id => { const run = state.runs.find(run => run.id === id); return run ? titleOf(run) : ""; };
const tagsOf = kind => [...new Set(chosenRuns().flatMap(run => kind === "scalars" ? Object.keys(run.scalars) : run[kind]))].sort();

function nothing(what) {
  if (state.reading) return "Still reading…";
  if (!state.runs.length)
    return "No runs yet. A run is a folder with TensorBoard's event files (train::SummaryWriter, train::TensorBoardLogger, " +
    "tandem train --tensorboard) or a summary.json.";
  return chosen.size ? `The chosen runs have no ${what}.` : "No run is chosen.";
}
const note = text => element("p", {className: "note"}, text);

// What is shown of a kind is made once for each choice and each step that is new.
const shown = {};
async function once(kind, make, more = "") {
  const key = JSON.stringify([more, ...chosenRuns().map(run => [run.id, run.changed, run[kind]])]);
  if (shown[kind] === key) return;
  shown[kind] = key;
  if (!by(kind).childElementCount) by(kind).replaceChildren(note("Loading…"));
  const children = await make().catch(error => [note(error.message)]);
  if (shown[kind] === key) by(kind).replaceChildren(...children.length ? children : [note(nothing(kind))]);
}

// --- Colours, of either theme. Six, each with four kinds of line.

const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
const palette = new Map();
function style(name) {
  if (!palette.has(name)) palette.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return palette.get(name);
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => palette.clear());
const colour = index => style("--c" + index % 6);
const dashes = index => DASHES[Math.floor(index / 6) % DASHES.length];

function swatch(id) {
  const mark = element("span", {className: "swatch dash" + Math.floor(place(id) / 6) % DASHES.length});
  mark.style.color = `var(--c${place(id) % 6})`;
  return mark;
}

// --- Numbers as text

function readable(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "nan";
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (Number.isInteger(value) && size < 1e7) return String(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(3);
  return String(Number(value.toPrecision(5)));
}

function readableBytes(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit < units.length - 1; ++unit) bytes /= 1024;
  return (unit ? bytes.toFixed(bytes < 10 ? 2 : bytes < 100 ? 1 : 0) : bytes) + " " + units[unit];
}

function readableMicroseconds(time) {
  if (time >= 1e6) return readable(Number((time / 1e6).toPrecision(4))) + " s";
  return time >= 1e3 ? readable(Number((time / 1e3).toPrecision(4))) + " ms" : readable(Number(time.toPrecision(4))) + " µs";
}
