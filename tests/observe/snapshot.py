"""Reads the snapshot that MemoryHistory.SnapshotForPython writes: snapshot.py pickle|viewer FILE LINE_FILE. Exits with 77 without PyTorch."""

import io
import pickle
import sys

reader, path, line_file = sys.argv[1:]
line = int(open(line_file).read())
with open(path, "rb") as file:
    snapshot = pickle.load(file)
MIB = 1 << 20

if reader == "pickle":
    assert set(snapshot) == {"segments", "device_traces", "allocator_settings", "external_annotations"}, snapshot.keys()
    assert [e["action"] for e in snapshot["device_traces"][1]] == ["snapshot"]
    trace = snapshot["device_traces"][0]
    assert [e["action"] for e in trace] == ["segment_alloc", "alloc", "segment_alloc", "alloc", "free_requested", "free_completed", "segment_free",
                                            "oom", "snapshot"], trace
    assert [e["size"] for e in trace[:4]] == [20 * MIB, 3 * MIB, 2 * MIB, 700], trace
    assert trace[7]["device_free"] == 236 * MIB and trace[7]["size"] >= 1 << 40, trace[7]
    assert all(a["time_us"] <= b["time_us"] for a, b in zip(trace, trace[1:]))
    [frame] = trace[1]["frames"]
    assert frame["filename"].endswith("memory_history_test.cpp") and frame["line"] == line, frame
    assert trace[0]["frames"] == []
    [large] = snapshot["segments"]
    assert large["segment_type"] == "large" and large["total_size"] == 20 * MIB and large["device"] == 0, large
    assert large["allocated_size"] == large["active_size"] == large["requested_size"] == 3 * MIB, large
    assert [b["state"] for b in large["blocks"]] == ["active_allocated", "inactive"], large
    assert large["blocks"][0]["address"] == large["address"] == trace[1]["addr"] and large["blocks"][1]["address"] == large["address"] + 3 * MIB
    assert large["blocks"][0]["frames"] == [frame]
    sys.exit()

try:
    from torch.cuda import _memory_viz as viz
except ImportError:
    print("skipped: this Python has no PyTorch")
    sys.exit(77)
assert "total_allocated: 3.0MiB" in viz.segsum(snapshot), viz.segsum(snapshot)
trace = viz.trace(snapshot)
assert "[0:3.0MiB]" in trace and "# 700.0B" in trace and "raise OutOfMemoryError" in trace, trace
for page in (viz.trace_plot(snapshot), viz.segment_plot(snapshot)):
    assert "<script" in page and len(page) > 1000
blocks = io.StringIO()  # the input of the flame graphs
for segment in snapshot["segments"]:
    viz._write_blocks(blocks, "segment", segment["blocks"])
assert f"memory_history_test.cpp:{line}" in blocks.getvalue(), blocks.getvalue()
