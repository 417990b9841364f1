# `tandem trace`: the program runs as ever, the trace is there, and how it ended is passed on.
. "$(dirname "$0")/common.sh.inc"

valid() {  # FILE NAME…: it is JSON, and has slices of these names
  python3 - "$@" <<'EOF' || fail "the trace $1 is not as it should be" "$(head -c 500 "$1")"
import json, sys
trace = json.load(open(sys.argv[1]))
names = {entry["name"] for entry in trace["traceEvents"] if entry["ph"] == "X"}
for name in sys.argv[2:]:
    assert name in names, (name, sorted(names))
for entry in trace["traceEvents"]:
    assert entry["ph"] in "MXsfC", entry
    assert entry["ph"] != "X" or (entry["dur"] >= 0 and entry["ts"] >= 0), entry
EOF
}

call TANDEM_VIRTUAL_GPUS=1x256MiB -- trace "$TANDEM_BIN" train digits --epochs 1 --limit-batches 2 --quiet --out run
expect_status 0; expect_no_err
for word in "Self CPU" "Self device" "# of Calls" convolution "Memory" "GFLOP/s" "The trace is $PWD/trace.json"; do expect_out "$word"; done
valid trace.json convolution ConvolutionBackward0 AccumulateGrad
expect_out "Flame graphs: $PWD/trace.html"
for word in '<h2>Host' '<h2>cuda:0</h2>' 'GPUs, by line' '>epoch</button>' '>forward</button>' '>backward</button>' '>optimizer step</button>' ConvolutionBackward0 'class="flames"'; do
  grep -qF -- "$word" trace.html || fail "the page of flame graphs lacks $word" "$(head -c 300 trace.html)"
done
grep -qE '(src|href)=' trace.html && fail "the page needs something else" "$(grep -oE '(src|href)=.{40}' trace.html | head -3)"
[ -e run/report.html ] || fail "the program did not do its work" "$(ls run)"

call -- trace --json --rows 2 --sort count -o other.json "$TANDEM_BIN" train digits --gpus 0 --epochs 1 --limit-batches 2 --out run2
expect_status 0
printf '%s' "$out" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
assert answer["exit_status"] == 0 and len(answer["traces"]) == 1, answer
rows = answer["traces"][0]["rows"]
assert answer["traces"][0]["flame_graphs"].endswith("/other.html"), answer
assert len(rows) == 2 and rows[0]["count"] >= rows[1]["count"] > 0, rows
' || fail "the JSON is not as it should be" "$out"
valid other.json mm

# On a terminal the table takes no more than its width, and begins with what the GPUs took longest for.
out=$(TERM=xterm TANDEM_VIRTUAL_GPUS=1x256MiB python3 "$(dirname "$0")/../support/on_terminal.py" 60 \
  "$TANDEM_BIN" trace "$TANDEM_BIN" train digits --epochs 1 --limit-batches 2 --quiet --out run4)
expect_out "Self device"
printf '%s\n' "$out" | sed '/^Self CPU time total/,$d' | awk 'length > 60 { print; found = 1 } END { exit found }' || fail "the table is wider than the terminal" "$out"
printf '%s\n' "$out" | python3 -c '
import re, sys
table = sys.stdin.read().split("Self CPU time total")[0]
units = {"us": 1, "ms": 1e3, "s": 1e6}
times = [[float(n) * units[u] for n, u in re.findall(r"([\d.]+)(us|ms|s)\b", line)][1] for line in table.splitlines()[3:] if "us" in line or "ms" in line]
assert len(times) > 5 and times == sorted(times, reverse=True), times
' || fail "the table is not sorted by the time of the device" "$out"

# Folders that are not there are made, for the variable as for the program.
call -- trace -o runs/a/trace.json "$TANDEM_BIN" train digits --gpus 0 --epochs 1 --limit-batches 1 --quiet --out runs/b
expect_status 0
valid runs/a/trace.json convolution
call TANDEM_TRACE=runs/c/trace.json -- train digits --gpus 0 --epochs 1 --limit-batches 1 --quiet --out runs/d
expect_status 0
valid runs/c/trace.json convolution

# The share of the machine's peak is a product's, and more than nothing.
call -- trace --peak --json -o peak.json "$TANDEM_BIN" train digits --gpus 0 --net mlp --epochs 1 --limit-batches 2 --out run3
expect_status 0
printf '%s' "$out" | python3 -c '
import json, sys
rows = {row["name"]: row for row in json.load(sys.stdin)["traces"][0]["rows"]}
assert all(row["of_peak"] > 0 for row in rows.values() if row["flops"]) and any(row["flops"] for row in rows.values()), rows
' || fail "no share of the peak" "$out"
valid peak.json mm
call -- trace --peak "$TANDEM_BIN" train digits --gpus 0 --net mlp --epochs 1 --limit-batches 2 --quiet --out run4
expect_out "of peak"; expect_out "GFLOP/s, the best of ten products"

# Ranks write a file each.
call -- trace -o ranks.json "$TANDEM_BIN" launch -n 2 "$TANDEM_BIN" train linear --gpus 0 --epochs 1 --quiet --out ranks
expect_status 0; expect_out "$PWD/ranks.rank0.json"; expect_out "$PWD/ranks.rank1.json"
valid ranks.rank0.json; valid ranks.rank1.json

# What the program says and how it ends is its own.
call -- trace bash -c 'echo out; echo err >&2; exit 7'
expect_status 7; expect_out out; expect_err err; expect_err "bash wrote no trace: it did nothing with tandem"
call -- trace true
expect_status 1; expect_one_line_error; expect_err "true wrote no trace"
call -- trace bash -c 'kill -9 $$'
expect_status 137; expect_one_line_error; expect_err "bash was ended by signal 9 (Killed), and so wrote no trace"
printf 'read in\n' > input
call -- trace cat < input
expect_out "read in"

wrong "trace: which program?" trace
wrong "trace: cannot start ./none: No such file or directory" trace ./none
wrong "unknown option --sorted of 'tandem trace'; did you mean --sort?" trace --sorted count true
wrong "cannot sort by 'colour': the columns are self_cpu_time_total" trace --sort colour true
wrong "trace: --output: cannot make the folder $PWD/input: Not a directory" trace -o input/trace.json true
wrong "--rows: must be a whole number from -1 on, not many" trace --rows many true
call -- trace --help
expect_status 0; expect_out "--output"; expect_no_err
finish
