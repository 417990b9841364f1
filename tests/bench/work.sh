# `./dev bench work`: every case runs once, on the CPU and on a virtual GPU; lists, documents, answers for the peers, wrong calls.
. "$(dirname "$0")/../cli/common.sh.inc"

call -- work --list
expect_status 0; expect_no_err
cases=$out
for name in cnn_step gru_infer densenet121_step gpt_step mlp_one; do expect_out "$name"; done

call -- work --ms 1 --batch 1
expect_status 0; expect_no_err
for name in $cases; do expect_out "$name"; done

# The same on a virtual GPU.
call TANDEM_VIRTUAL_GPUS=1x2GiB -- work --ms 1 --batch 1 --device cuda --json
expect_status 0; expect_no_err; expect_out '"device": "cuda:0"'; expect_out '"peak_memory_bytes"'
for name in $cases; do expect_out "\"name\": \"$name\""; done

# Operations: two for each of the 784*256 + 256*128 + 128*10 products, three times as many in a step of 128 pictures.
call -- work --list --json --case mlp_one --case mlp_step
expect_status 0; expect_no_err
for word in '"flops": 469504' '"flops": 180289536' '"peak_gflops"' '"what": "MLP 784'; do expect_out "$word"; done

# What the peers load: the same from each process.
for folder in a b; do
  call -- work --save $folder --case mlp_step --case mlp_one
  expect_status 0; expect_no_out; expect_no_err
done
cmp a/mlp_step.safetensors b/mlp_step.safetensors && cmp a/mlp_one.safetensors b/mlp_one.safetensors || fail "two processes have different weights" ""
for name in model.1.weight target loss gradient_norm; do grep -qaF "\"$name\"" a/mlp_step.safetensors || fail "mlp_step.safetensors lacks $name" ""; done
grep -qaF '"target"' a/mlp_one.safetensors && fail "an inference has a target" ""

# A server answers each line with a line, and ends with its input.
out=$(printf '\n\n' | "$TANDEM_BIN" work --serve --case mlp_one --ms 1 2> stderr); status=$?; err=$(cat stderr)
expect_status 0; expect_no_err
[ "$(head -1 <<< "$out")" = ready ] || fail "a server does not begin with: ready" "$out"
[ "$(grep -c '^{.*"name":"mlp_one".*}$' <<< "$out")" -eq 2 ] || fail "a server does not answer twice" "$out"

wrong "work: there is no case 'cnn'. There are: cnn_step, gru_step" work --case cnn
wrong "work: --serve measures one case: name it with --case" work --serve
wrong "work: --serve measures one case: name it with --case" work --serve --case mlp_one --case mlp_step
wrong "--batch: must be a whole number from 0 on, not -1" work --batch -1
finish
