# `./dev bench gpu` on a virtual GPU, made small: a table, a document, cases that are not there.
. "$(dirname "$0")/../cli/common.sh.inc"

call TANDEM_VIRTUAL_GPUS=1x512MiB -- gpu --shrink 64 --ms 1 --only copy_to --only matmul_4096 --only mlp_8 --only cifar_cnn
expect_status 0; expect_no_err
for word in copy_to "GB/s" matmul_4096 "TFLOP/s" "mlp_8" "CIFAR-10 network"; do expect_out "$word"; done

call TANDEM_VIRTUAL_GPUS=1x512MiB -- gpu --shrink 64 --ms 1 --only copy_within --json
expect_status 0; expect_no_err
for word in '"name": "copy_within"' '"shrink": 64' '"ns"'; do expect_out "$word"; done

call TANDEM_VIRTUAL_GPUS=1 -- gpu --only warp
expect_status 2
expect_err "there is no case 'warp'. There are: copy_to, copy_from"
finish
