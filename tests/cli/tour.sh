# The tour: each line and what comes out of it, to the letter where that does not depend on random numbers.
. "$(dirname "$0")/common.sh.inc"

call TANDEM_VIRTUAL_GPUS=2x64MiB -- tour
expect_status 0; expect_no_err
newline=$'\n'
expect_out "> td::cpu()${newline}device(type='cpu')${newline}"
expect_out "> td::gpu(1)${newline}device(type='cuda', index=1)${newline}"
expect_out "> td::num_gpus()${newline}2${newline}"
expect_out "> td::try_gpu(10)${newline}device(type='cpu')${newline}"
expect_out "> td::try_all_gpus()${newline}[device(type='cuda', index=0), device(type='cuda', index=1)]${newline}"
expect_out "> const auto x = td::tensor({1, 2, 3});${newline}> x.device()${newline}device(type='cpu')${newline}"
expect_out "> const auto X = td::ones({2, 3}, td::try_gpu());${newline}> X${newline}tensor([[1., 1., 1.],${newline}        [1., 1., 1.]], device='cuda:0')${newline}"
expect_out "> X * 2 + 1${newline}tensor([[3., 3., 3.],${newline}        [3., 3., 3.]], device='cuda:0')${newline}"
expect_out "> const auto Y = td::rand({2, 3}, td::try_gpu(1));${newline}> Y${newline}tensor([["
expect_out "> X + Y${newline}tandem::Error: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cuda:1! Move one to the other with to(device)${newline}"
expect_out "> Z${newline}tensor([[1., 1., 1.],${newline}        [1., 1., 1.]], device='cuda:1')${newline}"
expect_out "> Z.cuda(1).is_same(Z)${newline}true${newline}"
expect_out "> Z.cuda(0).is_same(Z)${newline}false${newline}"
expect_out "> td::nn::Sequential net(td::nn::LazyLinear(1));${newline}> net.to(td::try_gpu());${newline}> net(X)${newline}tensor([["
expect_out "device='cuda:0', grad_fn=<AddmmBackward0>)"
expect_out "> net.at<td::nn::LazyLinear>(0).weight.device()${newline}device(type='cuda', index=0)${newline}"
expect_out "device='cuda:0', requires_grad=True)"
expect_out "weight.grad().device()${newline}device(type='cuda', index=0)${newline}"
case "$out" in *"> (td::mse_loss"*"${newline}true${newline}"*) ;; *) fail "the loss did not fall" "$out" ;; esac
# Its last line works as it stands, for whoever finds the program.
last=$(tail -1 <<< "$out")
[ "$last" = "TANDEM_VIRTUAL_GPUS=2x64MiB tandem train digits --gpus 2" ] || fail "the last line is not a command" "$last"
(PATH=$(dirname "$TANDEM_BIN"):$PATH; eval "$last --epochs 1 --net mlp --quiet --out learned") > learned.log 2>&1 || fail "the last line does not work" "$(cat learned.log)"
[ -s learned/report.html ] || fail "the last line leaves no report" "$(ls learned)"
first=$out
call TANDEM_VIRTUAL_GPUS=2x64MiB -- tour
[ "$out" = "$first" ] || fail "a second tour is another" "$out"

# With too few GPUs: how to get virtual ones.
call CUDA_VISIBLE_DEVICES= -- tour
expect_status 1; expect_no_out; expect_one_line_error; expect_err "TANDEM_VIRTUAL_GPUS=2 tandem tour"
call TANDEM_VIRTUAL_GPUS=1 -- tour
expect_status 1; expect_one_line_error; expect_err "there is one here"
finish
