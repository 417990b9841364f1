# Runs that end early: Ctrl-C, kill -9, a full disk. Each can be gone on with, and ends as the run that was left alone.
. "$(dirname "$0")/common.sh.inc"

rm -rf whole stopped slow killed disk before  # of a run of this test before: they would look like this one's

# The value of a key in a run's summary.
summary() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1/summary.json" "$2"; }
train() { call TANDEM_VIRTUAL_GPUS=2x64MiB -- train digits --net mlp --quiet "$@"; }
begin() {  # the same in the background; its process is $!
  env --default-signal=INT TANDEM_VIRTUAL_GPUS=2x64MiB "$TANDEM_BIN" train digits --net mlp "$@" > begun.out 2> begun.err &
}
trap 'kill -KILL $(jobs -p) 2> /dev/null' EXIT  # whatever ends this script, nothing goes on training behind it
wait_for() { for _ in $(seq 2000); do [ -e "$1" ] && return; sleep 0.01; done; fail "$1 does not appear" "$(cat begun.err)"; }

# What all of it is held against.
train --epochs 120 --schedule onecycle --out whole
expect_status 0

# Ctrl-C: a checkpoint, how to go on, and the status a shell gives. --resume takes the settings over.
begin --epochs 120 --schedule onecycle --out stopped; process=$!
wait_for stopped/checkpoint.safetensors
kill -INT $process; wait $process; status=$?; out=$(cat begun.out); err=$(cat begun.err)
if [ "$status" -eq 130 ]; then
  expect_out "go on with: tandem train digits --resume --out stopped"
  expect_err "interrupted: ends after the batch under way, then saves stopped/checkpoint.safetensors"  # at once
  expect_err "saved stopped/checkpoint.safetensors"
  [ "$(grep -c 'interrupted in epoch\|interrupted after epoch' <<< "$out$err")" -eq 1 ] || fail "not told once" "$out$err"
  case "$out$err" in *"resume = true"*) fail "told in the words of C++" "$out$err" ;; esac
  [ "$(summary stopped interrupted)" = True ] || fail "the summary does not say so" "$(cat stopped/summary.json)"
else
  expect_status 0  # it was through before the signal came
fi
seconds=$(summary stopped seconds)
train --resume --out stopped
expect_status 0
python3 -c 'import sys; sys.exit(not float(sys.argv[1]) > float(sys.argv[2]))' "$(summary stopped seconds)" "$seconds" || fail "the time is that of the last session only" "$seconds"
[ "$(summary stopped epochs)" = 120 ] || fail "not the epochs of the run that was stopped" "$(cat stopped/summary.json)"
[ "$(summary stopped schedule)" = onecycle ] || fail "not its schedule" "$(cat stopped/summary.json)"
same_state whole/checkpoint.safetensors stopped/checkpoint.safetensors || fail "an interrupted run ends otherwise" ""

# Another recipe's run is not gone on with.
call -- train linear --resume --gpus 0 --out stopped
expect_status 1; expect_one_line_error; expect_err "this is a run of 'digits', not of 'linear'"

# Nor is another network's or another optimizer's; another learning rate takes the place of the one that was.
call -- train digits --net cnn --resume --gpus 0 --out stopped
expect_status 1; expect_one_line_error; expect_err "this is a run of the network 'mlp', not of 'cnn'"
call -- train digits --optimizer sgd --resume --gpus 0 --out stopped
expect_status 1; expect_one_line_error; expect_err "this is a run of the optimizer 'adam', not of 'sgd'"
train --epochs 2 --schedule none --out slow
before=$(summary slow val_loss)
train --epochs 3 --lr 1e-30 --resume --out slow
expect_status 0
[ "$(summary slow val_loss)" = "$before" ] || fail "it went on with another --lr than the one given" "$before $(summary slow val_loss)"
call -- train digits --resume --gpus 0 --out slow
expect_status 0; expect_out "nothing left to learn: 3 epochs were done"

# Killed again and again, at any moment.
kills=${TANDEM_TEST_KILLS:-12}
for i in $(seq "$kills"); do
  begin --epochs 100000 --limit-batches 2 --quiet --resume --out killed; process=$!
  wait_for killed/checkpoint.safetensors
  sleep "0.0$((RANDOM % 90 + 10))"
  kill -KILL $process; wait $process 2> /dev/null
  train --epochs 1 --resume --out killed
  [ "$status" -eq 0 ] || { fail "not to be gone on with after kill $i" "$err"; break; }
done
[ -z "$(find killed -name '*.tmp')" ] || fail "unfinished files are left" "$(ls killed)"

# A full disk: an error, and the checkpoint of before stays. In a mount of our own, where the system lets us make one.
cat > full.sh << 'SCRIPT'
mount -t tmpfs -o size=400k none disk || exit 77
"$TANDEM_BIN" train digits --net mlp --gpus 0 --epochs 1 --quiet --out disk/run || exit 1
cp disk/run/checkpoint.safetensors before
dd if=/dev/zero of=disk/rest bs=1k count=1000 2> /dev/null
"$TANDEM_BIN" train digits --net mlp --gpus 0 --epochs 3 --quiet --resume --out disk/run 2> full.err
[ $? -eq 1 ] || { echo "no error"; exit 1; }
cmp before disk/run/checkpoint.safetensors || exit 1
rm disk/rest
[ -z "$(find disk -name '*.tmp')" ] || { echo "an unfinished file is left"; exit 1; }
"$TANDEM_BIN" train digits --net mlp --gpus 0 --epochs 3 --quiet --resume --out disk/run || exit 1
SCRIPT
mkdir disk
unshare --user --map-root-user --mount bash full.sh > full.out 2>&1; status=$?
case $status in
  0) grep -q "No space left on device" full.err || fail "the error does not say so" "$(cat full.err)" ;;
  77 | 126 | 127) echo "left out: no file system can be mounted here" ;;
  *) if grep -q -i "unshare" full.out; then echo "left out: no file system can be mounted here"; else fail "a full disk" "$(cat full.out full.err)"; fi ;;
esac
finish
