# Training on the digits: files, numbers, outputs, and how it fails.
. "$(dirname "$0")/common.sh.inc"

# check_summary FILE GPUS EPOCHS LEAST_ACCURACY
check_summary() {
  python3 - "$@" <<'PYTHON' || fail "the summary is not as it should be" "$(cat "$1")"
import json, os, sys
summary = json.load(open(sys.argv[1]))
gpus, epochs, least = int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
assert summary["devices"] == ([f"cuda:{i}" for i in range(gpus)] or ["cpu"]), summary
assert len(summary["device_names"]) == len(summary["devices"])
assert summary["epochs"] == epochs
assert least <= summary["accuracy"] <= 1, summary["accuracy"]
assert abs(summary["accuracy"] * 360 - round(summary["accuracy"] * 360)) < 1e-9
assert summary["seconds"] > 0
assert os.path.isfile(summary["checkpoint"]), summary["checkpoint"]
with open(summary["checkpoint"], "rb") as f:
    header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
shapes = {k: tuple(v["shape"]) for k, v in header.items() if k.startswith("model.")}
assert sorted(shapes.values()) == [(10,), (10, 64), (16,), (16, 1, 3, 3), (32,), (32, 16, 3, 3), (64,), (64, 512)], shapes
assert header["__metadata__"]["optimizer"] == "Adam"
PYTHON
}

call TANDEM_VIRTUAL_GPUS=2x64MiB -- train digits --gpus 2 --epochs 3 --out runs/two
expect_status 0
check_summary runs/two/summary.json 2 3 0.9
# No terminal: plain lines on standard error, the result on standard output.
[ "$(printf '%s\n' "$err" | wc -l)" -eq 3 ] || fail "not a line an epoch" "$err"
expect_err "epoch 3/3: train_loss "; expect_err ", val_acc 0."; expect_err "samples/s)"
expect_out "of 360 held-out samples right"; expect_out "cuda:0, cuda:1"; expect_out "runs/two/summary.json"
case "$err$out" in *$'\r'* | *$'\x1b'*) fail "control characters without a terminal" "$err" ;; esac

# The default seeds and settings, on the CPU, reach what is promised.
call -- train digits --gpus 0 --quiet --out runs/cpu
expect_status 0; expect_no_out; expect_no_err
check_summary runs/cpu/summary.json 0 20 0.97

# Mixed precision, told by the summary and the report.
call -- train digits --gpus 0 --epochs 1 --precision bf16-mixed --quiet --out runs/mixed
expect_status 0; expect_no_out; expect_no_err
for file in summary.json report.html; do grep -q bf16-mixed runs/mixed/$file || fail "$file does not tell the precision" "$(head -c 2000 runs/mixed/$file)"; done

# All GPUs there are; the summary on standard output.
call TANDEM_VIRTUAL_GPUS=1x64MiB -- train digits --epochs 1 --json --quiet --out runs/json
expect_status 0; expect_no_err
[ "$out" = "$(cat runs/json/summary.json)" ] || fail "--json prints another summary" "$out"
check_summary runs/json/summary.json 1 1 0.5
# A folder's name may be any bytes.
call TANDEM_VIRTUAL_GPUS=1x64MiB -- train digits --epochs 1 --limit-batches 2 --quiet --out $'runs/\xff'
expect_status 0; [ -s $'runs/\xff/summary.json' ] && [ -s $'runs/\xff/report.html' ] || fail "a folder that is no UTF-8" "$(ls runs)"

# The same seed gives the same network; another one another.
for run in "a 4" "b 4" "c 5"; do
  set -- $run
  call -- train digits --gpus 0 --epochs 1 --seed "$2" --quiet --out "runs/$1"
  expect_status 0
done
same_state runs/a/checkpoint.safetensors runs/b/checkpoint.safetensors || fail "the same seed gave two networks" ""
same_state runs/a/checkpoint.safetensors runs/c/checkpoint.safetensors && fail "two seeds gave the same network" ""

# More GPUs than there are.
call TANDEM_VIRTUAL_GPUS=1x64MiB -- train digits --gpus 2 --out runs/none
expect_status 1; expect_no_out; expect_one_line_error; expect_err "TANDEM_VIRTUAL_GPUS=2 tandem train digits --gpus 2"
[ ! -e runs/none ] || fail "a folder was made for a run that did not begin" ""
# Where there is none at all, virtual ones are made, and one line says so.
call -- devices --json
case "$out" in *cuda:0*) ;; *)
  call -- train digits --gpus 2 --epochs 1 --net mlp --out runs/made
  expect_status 0; expect_err "there is no GPU here: training on 2 virtual ones"
  [ "$(grep -c 'no GPU' <<< "$err")" -eq 1 ] || fail "not told in one line" "$err"
  grep -q 'tandem virtual GPU' runs/made/report.html || fail "the report names other devices" "" ;;
esac
# A folder that cannot be made, a file that cannot be written.
echo x > file
call -- train digits --gpus 0 --epochs 1 --quiet --out file/in/the/way
expect_status 1; expect_one_line_error; expect_err "file/in/the/way"
# A GPU without room for it.
call TANDEM_VIRTUAL_GPUS=1x2MiB -- train digits --gpus 1 --epochs 1 --batch 1437 --quiet --out runs/small
expect_status 1; expect_one_line_error; expect_err "out of memory"
finish
