# `./dev bench loader` on short epochs: a table, a document, the CPU.
. "$(dirname "$0")/../cli/common.sh.inc"

call TANDEM_VIRTUAL_GPUS=1x256MiB -- loader --batches 3 --rounds 1 --decode-ms 0.5 --compute-ms 0.5
expect_status 0; expect_no_err
for word in "3 batches on cuda" "0 workers" "2 workers" "the larger of"; do expect_out "$word"; done

call -- loader --device cpu --workers 3 --batches 2 --rounds 1 --decode-ms 0.2 --compute-ms 0.2 --json
expect_status 0; expect_no_err
for word in '"device": "cpu"' '"workers": 3' '"epoch_ms"' '"of_larger"'; do expect_out "$word"; done

call TANDEM_VIRTUAL_GPUS=1x64MiB -- loader --device cuda:1
expect_status 2; expect_no_out; expect_one_line_error; expect_err "loader: cuda:1: there is no such GPU"
finish
