# How the program is called, and what it says to wrong calls: one line on standard error and exit status 2.
. "$(dirname "$0")/common.sh.inc"

call -- --version
expect_status 0; expect_out "tandem 0."; expect_no_err
call -- --help
expect_status 0; expect_no_err
for word in tour devices train TANDEM_VIRTUAL_GPUS; do expect_out "$word"; done
for command in tour devices "train digits"; do
  call -- $command --help
  expect_status 0; expect_out "--help"; expect_no_err
done
call -- train digits --help
for option in --gpus --epochs --lr --batch --seed --out --quiet --json; do expect_out "$option"; done

wrong "needs one of its commands: tour, devices, train, predict"
wrong "unknown command 'dance' of 'tandem'; it has: tour, devices, train, predict" dance
wrong "unknown command 'trian' of 'tandem'; did you mean train?; it has: tour" trian
wrong "unknown command 'digit' of 'tandem train'; did you mean digits?; it has: digits" train digit
wrong "unknown option --epoch of 'tandem train digits'; did you mean --epochs?; tandem" train digits --epoch=3
wrong "unknown option --batchsize of 'tandem train digits'; did you mean --batch?; tandem" train digits --batchsize 3
wrong "--data excludes --synthetic" train mnist --synthetic --data .
wrong "--samples is for --synthetic data" train mnist --data . --samples 10
wrong "unknown option --loud of 'tandem'" --loud
wrong "unknown option --loud of 'tandem tour'" tour --loud
wrong "'tandem tour' takes no argument 'twice'" tour twice
wrong "unknown option --jsn of 'tandem devices'; did you mean --json?; tandem devices --help tells more" devices --jsn
wrong "'tandem train' needs one of its commands: digits" train
wrong "unknown command 'letters' of 'tandem train'; it has: digits" train letters
wrong "--epochs: must be a whole number from 1 to 2147483647, not 0" train digits --epochs 0
wrong "--epochs: must be a whole number from 1 to 2147483647, not many" train digits --epochs many
wrong "--epochs: must be a whole number from 1 to 2147483647, not 2.5" train digits --epochs 2.5
wrong "--epochs needs a value" train digits --epochs
wrong "--net: must be cnn or mlp, not resnet; tandem train digits --help tells more" train digits --net resnet
wrong "--net: must be cnn, mlp, lenet or resnet18, not resnet; did you mean lenet, resnet18?; tandem" train mnist --net resnet
wrong "--precision: must be 32, bf16-mixed or 16-mixed, not 8" train digits --precision 8
wrong "--optimizer: must be sgd, momentum, adam, adamw, nadam, radam, adamax, adagrad, adadelta or rmsprop, not adems; did you mean adamw?" train digits --optimizer adems
wrong "CHECKPOINT: must be a file, and there is none at no.safetensors; tandem predict --help tells more" predict no.safetensors x.png
wrong "CHECKPOINT: must be a file, and there is none at /, which is a folder" predict / x.png
wrong "--watch: must be a number from 0.05 to 86400, not 0" smi --watch 0
wrong "--batch: must be a whole number from 1 on, not -3" train digits --batch -3
wrong "--gpus: must be a whole number from 0 to 2147483647, not -1" train digits --gpus -1
wrong "--lr: must be a number above 0, not 0" train digits --lr 0
wrong "--lr: must be a number above 0, not nan" train digits --lr nan
wrong "--lr: must be a number above 0, not 1e-3x" train digits --lr 1e-3x
wrong "--seed: must be a whole number from 0 on, not x" train digits --seed x
wrong "--epochs: must be a whole number from 1 to 2147483647, not 99999999999" train digits --epochs 99999999999
wrong "--workers: must be a whole number from 0 to 1024, not 2147483647" train digits --workers 2147483647
wrong "--batch: must be a whole number from 1 on, not 9223372036854775808" train digits --batch 9223372036854775808
wrong "--samples: must be a whole number from 2 to 100000000, not 9223372036854775807" train cifar --samples 9223372036854775807
wrong "--accumulate: must be a whole number from 1 to 2147483647, not 2147483648" train digits --accumulate 2147483648
wrong "--patience: must be a whole number from 1 to 2147483647, not 2147483648" train digits --patience 2147483648
wrong "--gpus: must be a whole number from 0 to 2147483647, not 2147483648" train digits --gpus 2147483648
wrong "--out needs a value" train digits --out

# Lines of its own files are named without the folders in which it was built.
sources=$(cd "$(dirname "$0")/../.." && pwd)
for file in "$TANDEM_BIN" "$(dirname "$TANDEM_BIN")"/../lib/libtandem{,_board,_torch}.so; do
  [ -e "$file" ] && ! grep -aq '__[at]san_init' "$file" || continue  # reports of a sanitizer name files as they lie
  paths=$(grep -aoE "(\.\.|$sources)/src/[a-z_/]*\.(cpp|h)" "$file" | sort -u)
  [ -z "$paths" ] || fail "$file has paths of the build" "$paths"
done

# Output that cannot be written is an error, whoever prints it.
for arguments in devices "smi --json" "devices --json" --version "inspect --help"; do
  # shellcheck disable=SC2086
  err=$(env TANDEM_VIRTUAL_GPUS=1 "$TANDEM_BIN" $arguments 2>&1 > /dev/full); status=$? out=
  expect_status 1; expect_one_line_error; expect_err "standard output cannot be written to"
done

# A wrong setting is told in one line, too, and is no wrong call.
call TANDEM_VIRTUAL_GPUS=many -- devices
expect_status 1; expect_one_line_error; expect_err "TANDEM_VIRTUAL_GPUS"
finish
