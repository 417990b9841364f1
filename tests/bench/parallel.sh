# `./dev bench parallel` made small: a table, a document, the model, wrong calls.
. "$(dirname "$0")/../cli/common.sh.inc"

call TANDEM_VIRTUAL_GPUS=2x512MiB -- parallel --quick
expect_status 0; expect_no_err
for word in densenet121 lenet mlp resnet18 products "2 GPUs x 2" efficiency overlap copy_between all_reduce reduce_scatter "GB/s"; do expect_out "$word"; done

call TANDEM_VIRTUAL_GPUS=3x256MiB -- parallel --quick --gpus 3,1 --only lenet --only collectives --json
expect_status 0; expect_no_err
for word in '"name": "lenet"' '"gpus": 3' '"speed_up"' '"efficiency"' '"name": "all_gather"' '"limit_gb_per_s"'; do expect_out "$word"; done

# The model needs no GPU: 8 x 288 pictures a second where gradients cost nothing, less where they do.
call -- parallel --only model --link nvlink --link 4:12.5:20 --rate densenet121=288
expect_status 0; expect_no_err
for word in "modelled, not measured. nvlink: 8 GPUs in a ring, 450 GB/s" "4:12.5:20: 4 GPUs" "288.0 pictures/s on one GPU, batch 64 (given): 2302" "gradients take"; do expect_out "$word"; done

# A rank is told by lines of standard input what to measure.
out=$(printf '2\n1\n' | TANDEM_VIRTUAL_GPUS=2x256MiB "$TANDEM_BIN" parallel --quick --serve products 2>&1)
[ "$(grep -c '"per_s"' <<< "$out")" = 2 ] && [ "$(head -1 <<< "$out")" = ready ] || fail "--serve does not answer each line" "$out"

wrong "parallel: there is no case 'warp'. There are: densenet121, lenet, mlp, resnet18, products, overlap, collectives, model" parallel --only warp
wrong "parallel: --link 'tin' is neither nvlink, pcie nor ethernet100" parallel --link tin
wrong "parallel: --link '8:0:3'" parallel --link 8:0:3
wrong "parallel: --rate 'vgg=3' is not CASE=IMAGES" parallel --rate vgg=3
wrong "--gpus: must be a whole number from 1 to 64, not 65" parallel --gpus 1,65
call TANDEM_VIRTUAL_GPUS=1x64MiB -- parallel --gpus 1,2
expect_status 2; expect_no_out; expect_one_line_error; expect_err "--gpus asks for 2, but there are 1 GPUs: TANDEM_VIRTUAL_GPUS=2 makes virtual ones"
finish
