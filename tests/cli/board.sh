# `tandem board`: what it lists and serves, to whom, and while files grow, shrink and go away.
. "$(dirname "$0")/common.sh.inc"
here=$(dirname "$0")

mkdir -p empty
call -- board empty --json
case "$err" in *libcpp-httplib-dev*) echo "SKIPPED: the board was not built: apt-get install libcpp-httplib-dev"; exit 77 ;; esac
expect_status 0; expect_no_err; [ "$out" = "[]" ] || fail "runs in an empty folder" "$out"
call -- board --help
expect_status 0; for option in DIR --port --json; do expect_out "$option"; done
wrong "board: nowhere: No such file or directory" board nowhere
touch file; wrong "board: file is no folder" board file
wrong "--port" board empty --port 65536
wrong "--port" board empty --port x
wrong "" board empty more

call TANDEM_VIRTUAL_GPUS=2x64MiB -- train digits --gpus 2 --epochs 2 --net mlp --batch 100 --tensorboard --quiet --out runs/a
expect_status 0
call -- board runs --json
expect_status 0; expect_no_err
for part in '"name": "a"' '"val_acc"' '"train_loss"' '"optimizer": "adam"' '"net.1.weight"' '"report": true'; do expect_out "$part"; done

PYTHONDONTWRITEBYTECODE=1 python3 "$here/board.py" "$TANDEM_BIN" > python.log 2>&1 || fail "the server" "$(tail -30 python.log)"
finish
