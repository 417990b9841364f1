# `./dev bench observers` on few operations: a table, a document, wrong names.
. "$(dirname "$0")/../cli/common.sh.inc"

call TANDEM_VIRTUAL_GPUS=1x64MiB -- observers --ms 1
expect_status 0; expect_no_err
for word in add add_ledger add_profiler add_races add_backward queue queue_ledger queue_profiler queue_races; do expect_out "$word "; done

call TANDEM_VIRTUAL_GPUS=1x64MiB -- observers --ms 1 --json --only queue_races --only add
expect_status 0; expect_no_err
names=$(printf '%s' "$out" | python3 -c "import json, sys; print(*[row['name'] for row in json.load(sys.stdin)['results'] if row['ns'] > 0])")
[ "$names" = "add queue_races" ] || fail "not the cases asked for" "$names"

call -- observers --only nobody
expect_status 1; expect_no_out; expect_err "there is no case 'nobody'. The cases are add, add_ledger"
finish
