# The board's page in a real browser: curves are drawn, names are text, keys and narrow screens work. Skipped where there is no Chromium.
. "$(dirname "$0")/common.sh.inc"

mkdir -p empty
call -- board empty --json
case "$err" in *libcpp-httplib-dev*) echo "SKIPPED: the board was not built: apt-get install libcpp-httplib-dev"; exit 77 ;; esac
. "$(dirname "$0")/../support/chromium.sh.inc"
call TANDEM_VIRTUAL_GPUS=2x64MiB TANDEM_TRACE=trace.json TANDEM_LEDGER=log:ledger.txt -- train digits --gpus 2 --epochs 2 --net mlp --batch 100 --tensorboard --quiet --out one/a
expect_status 0
mv trace.json ledger.txt one/a/
PYTHONDONTWRITEBYTECODE=1 timeout 550 python3 "$(dirname "$0")/board_page.py" "$TANDEM_BIN" > python.log 2>&1 || fail "the page" "$(tail -30 python.log)"
finish
