# `./dev bench features` on small pictures: a line, a document, a virtual GPU.
. "$(dirname "$0")/../cli/common.sh.inc"

call -- features --batch 2 --size 32 --ms 2
expect_status 0; expect_no_err
for word in "2 pictures of 3x32x32" "on cpu and back" pictures/s GFLOP/s; do expect_out "$word"; done

call TANDEM_VIRTUAL_GPUS=1x512MiB -- features --batch 1 --size 64 --ms 2 --device cuda --json
expect_status 0; expect_no_err
for word in '"device": "cuda:0"' '"batch": 1' '"size": 64' '"pictures_per_s"' '"gflops"'; do expect_out "$word"; done

call -- features --size 0
expect_status 2; expect_no_out; expect_one_line_error; expect_err "--size"
call TANDEM_VIRTUAL_GPUS=1x64MiB -- features --device cuda:1
expect_status 2; expect_no_out; expect_one_line_error; expect_err "features: cuda:1: there is no such GPU"
finish
