# `./dev bench comm`: two ranks that are started here, one alone, wrong calls.
. "$(dirname "$0")/../cli/common.sh.inc"

other=$(RANK=1 WORLD_SIZE=2 timeout 300 "$TANDEM_BIN" comm --backend local --meet "bench-comm-$$" --ms 2 2>&1) &
call RANK=0 WORLD_SIZE=2 -- comm --backend local --meet "bench-comm-$$" --ms 2 --json
wait
expect_status 0; expect_no_err
for word in '"library": "tandem local"' '"name": "all_reduce_4"' '"name": "all_reduce_1m"' '"name": "all_reduce_16m"' '"name": "mlp"'; do expect_out "$word"; done

call -- comm --ms 2 --only all_reduce_4
expect_status 0; expect_no_err; expect_out "blocking all_reduce of 4 B"

wrong "comm: there is no case 'warp'. There are: all_reduce_4, all_reduce_1m, all_reduce_16m, mlp" comm --only warp
wrong "--threads" comm --threads 0
finish
