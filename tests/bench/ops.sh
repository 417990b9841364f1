# `./dev bench ops` on a few operations: a table, a document, a virtual GPU.
. "$(dirname "$0")/../cli/common.sh.inc"

# Every one of them can be measured.
call -- ops --size 300 --ms 0.01
expect_status 0; expect_no_err

call -- ops exp softmax mm --size 5000 --ms 2
expect_status 0; expect_no_err
for word in exp softmax mm GB/s GFLOP/s %; do expect_out "$word"; done

call -- ops sum rand_like --size 5000 --ms 2 --json
expect_status 0; expect_no_err
for word in '"library": "tandem"' '"name": "sum"' '"name": "rand_like"' '"gb_per_s"' '"share_of_peak"' '"device": "cpu"'; do expect_out "$word"; done

# Functions are held against a plain loop of the same function too; what is none is not.
call -- ops pow var --size 5000 --ms 2 --json
expect_status 0; expect_out '"plain_loop_ns"'; expect_no_err
call -- ops exp --size 5000 --ms 2
expect_status 0; expect_out 'plain loop'; expect_no_err
grep -qE '^exp .*% +[0-9.]+x$' <<< "$out" || fail "exp is held against no plain loop" "$out"
call -- ops add --size 5000 --ms 2 --json
expect_status 0; expect_no_err
case "$out" in *plain_loop_ns*) fail "add has a plain loop of its function" "$out" ;; esac

call TANDEM_VIRTUAL_GPUS=1x256MiB -- ops add --size 5000 --ms 2 --device cuda --json
expect_status 0; expect_out '"device": "cuda:0"'; expect_no_err

call -- ops --list
expect_status 0; expect_out softmax; expect_no_err
finish
