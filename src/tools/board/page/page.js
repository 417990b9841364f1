// The page: which runs are chosen, which tab is open, what the address keeps of both, and the server asked for what is new.

const LATEST = 10, EVERY_MS = 1000, DEVICES_EVERY = 2, TABS_AFTER_MS = 500;
const TABS = [["curves", "Curves"], ["table", "Runs and results"], ["images", "Images"], ["histograms", "Histograms"], ["texts", "Texts"],
  ["devices", "GPUs"], ["waits", "Waits and timeline"]];
const SHOW = {curves: showCurves};  // what shows a tab; those of other tabs are added by their own script

let tab = "curves", runFilter = "", touched = false, ended = false, rounds = 0, devicesAsked = false;
let linked = null;  // names of the runs that the address asks for, until somebody chooses others

// --- Runs

function showRuns() {
  const wanted = state.runs.filter(run => run.name.toLowerCase().includes(runFilter));
  by("chosen").textContent = `${chosen.size} of ${state.runs.length}` + (state.left_out ? ", others left out" : "");
  const key = JSON.stringify(wanted.map(run => [run.id, run.name, run.trouble, chosen.has(run.id)]));
  if (by("runs").key === key) return;
  by("runs").key = key;
  const focused = document.activeElement?.dataset?.run;
  by("runs").replaceChildren(...wanted.map(run => {
    const box = element("input", {type: "checkbox", checked: chosen.has(run.id)});
    box.dataset.run = run.id;
    box.addEventListener("change", () => choose(() => box.checked ? chosen.add(run.id) : chosen.delete(run.id)));
    const name = element("span", {className: "name"}, titleOf(run));
    if (run.trouble) name.append(element("span", {className: "note", title: run.trouble}, " ⚠ " + run.trouble));
    return element("li", {}, element("label", {}, box, swatch(run.id), name));
  }));
  if (focused !== undefined) by("runs").querySelector(`[data-run="${Number(focused)}"]`)?.focus();
}

function choose(change, byHand = true) {
  change();
  touched = byHand;
  linked = null;
  showRuns();
  showTab();
  keepAddress();
}

function chooseLatest() {
  chosen.clear();
  [...state.runs].sort((a, b) => b.changed - a.changed).slice(0, LATEST).forEach(run => chosen.add(run.id));
}

// --- The address: tab, runs and settings, so that a link restores them. The server is not told of what stands behind #.

function keepAddress() {
  const parts = new URLSearchParams({tab});
  if (linked) for (const name of linked) parts.append("run", name);
  else if (touched) {
    if (chosen.size === state.runs.length) parts.set("runs", "all");
    else if (!chosen.size) parts.set("runs", "none");
    else for (const run of chosenRuns()) parts.append("run", run.name);
  }
  if (view.axis !== "step") parts.set("axis", view.axis);
  if (view.smoothing) parts.set("smoothing", view.smoothing);
  if (view.log) parts.set("log", 1);
  if (view.filter) parts.set("curves", view.filter);
  for (const tag of view.logs) parts.append("scale", tag);
  history.replaceState(null, "", "#" + parts);
}

function readAddress() {
  const text = location.hash.slice(1), parts = new URLSearchParams(text.includes("=") ? text : {tab: text});
  if (TABS.some(([name]) => name === parts.get("tab"))) tab = parts.get("tab");
  if (parts.has("runs")) linked = parts.get("runs");
  else if (parts.has("run")) linked = new Set(parts.getAll("run"));
  if (parts.get("axis") in AXES && parts.get("axis") !== "ago") view.axis = parts.get("axis");
  const smoothing = Number(parts.get("smoothing"));
  if (smoothing > 0 && smoothing < 1) view.smoothing = smoothing;
  view.log = parts.get("log") === "1";
  view.filter = parts.get("curves") ?? "";
  view.logs = new Set(parts.getAll("scale"));
  by("axis").value = view.axis;
  by("smoothing").value = view.smoothing;
  by("smoothing-value").textContent = by("smoothing").value;
  by("log").checked = view.log;
  by("tag-filter").value = view.filter;
}

// Chooses what the address asks for; its runs may come later than the page.
function chooseLinked() {
  touched = true;
  chosen.clear();
  for (const run of state.runs) if (linked === "all" || linked instanceof Set && linked.has(run.name)) chosen.add(run.id);
}

// --- All of it

// The script of the other tabs: when one is opened, or else behind the first curves, which it would keep waiting.
function loadTabs() {
  if (!document.querySelector("script[src='tabs.js']")) document.head.append(element("script", {src: "tabs.js"}));
}

function showTab() {
  if (tab !== "curves") loadTabs();
  for (const [name] of TABS) {
    by("panel-" + name).hidden = name !== tab;
    const button = by("tab-" + name);
    button.setAttribute("aria-selected", name === tab);
    button.tabIndex = name === tab ? 0 : -1;
  }
  by("view").hidden = tab !== "curves";
  SHOW[tab]?.();
}

function open(name) {
  tab = name;
  showTab();
  by("tab-" + tab).scrollIntoView({block: "nearest", inline: "nearest"});
  keepAddress();
}

async function update() {
  try {
    const fresh = await ask("state", {since: state.version}), first = state.version === 0;
    if (fresh.version !== state.version) {
      state = fresh;
      for (const run of state.runs) place(run.id);
      for (const id of chosen) if (!state.runs.some(run => run.id === id)) chosen.delete(id);
      if (linked) chooseLinked();
      else if (!touched) chooseLatest();
      by("folder").textContent = by("folder").title = state.folder;
      showRuns();
      if (tab !== "devices") showTab();
    }
    if (devicesAsked && ++rounds % DEVICES_EVERY === 0 && !document.hidden) sampleDevices();
    by("status").textContent = state.reading ? "reading…" : `${state.runs.length} run${state.runs.length === 1 ? "" : "s"}`;
    ended = false;
    if (first) { document.body.dataset.ready = "yes"; setTimeout(loadTabs, TABS_AFTER_MS); }
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
  button.addEventListener("click", () => open(name));
  return button;
}));
by("tabs").addEventListener("keydown", event => {
  const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (!step) return;
  const names = TABS.map(([name]) => name);
  open(names[(names.indexOf(tab) + step + names.length) % names.length]);
  by("tab-" + tab).focus();
});
by("run-filter").addEventListener("input", event => { runFilter = event.target.value.toLowerCase(); showRuns(); });
by("choose-all").addEventListener("click", () => choose(() =>
  state.runs.filter(run => run.name.toLowerCase().includes(runFilter)).forEach(run => chosen.add(run.id))));
by("choose-none").addEventListener("click", () => choose(() => chosen.clear()));
by("choose-latest").addEventListener("click", () => choose(chooseLatest, false));
by("tag-filter").addEventListener("input", event => { view.filter = event.target.value; showCurves(); keepAddress(); });
by("axis").addEventListener("change", event => { view.axis = event.target.value; redrawCurves(true); keepAddress(); });
by("log").addEventListener("change", event => { view.log = event.target.checked; view.logs.clear(); redrawCurves(); keepAddress(); });
by("smoothing").addEventListener("input", event => {
  view.smoothing = Number(event.target.value);
  by("smoothing-value").textContent = event.target.value;
  redrawCurves();
  keepAddress();
});
matchMedia("(prefers-color-scheme: dark)")
    .addEventListener("change", () => document.querySelectorAll("canvas").forEach(canvas => canvas.of?.draw()));
if (matchMedia("(max-width: 760px)").matches) by("chooser").open = by("view").open = false;
readAddress();
addEventListener("hashchange", () => { readAddress(); if (linked) chooseLinked(); showRuns(); showTab(); redrawCurves(true); });
showTab();
update();
