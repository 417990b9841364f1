# How the program of the benchmarks is called, and what it says to wrong calls.
. "$(dirname "$0")/../cli/common.sh.inc"

call -- --version
expect_status 0; expect_out "tandem_bench 0."; expect_no_err
call -- --help
expect_status 0; expect_no_err
for command in micro ops work observers loader gpu features parallel comm; do expect_out "$command"; done
for command in micro ops work observers loader gpu features parallel comm; do
  call -- $command --help
  expect_status 0; expect_out "--help"; expect_no_err
done

wrong "--workers: must be a whole number from 0 to 1024, not 2147483647" loader --workers 2147483647
wrong "--threads: must be a whole number from 0 to 2147483647, not 2147483648" micro --threads 2147483648
wrong "'tandem_bench' needs one of its commands: micro, ops, work, observers, loader, gpu, features, parallel, comm"
wrong "--threads" micro --threads -1
wrong "--ms" micro --ms 0
wrong "there is no operation 'sofmax'; did you mean softmax" ops sofmax
wrong "there is no operation 'add_'; did you mean add" ops exp add_
wrong "'narrow' is a view" ops narrow
wrong "--size: must be a whole number from 1 on, not 0" ops --size 0
wrong "Expected one of cpu, cuda device type at start of device string: tpu" ops --device tpu
wrong "unknown option --jsn of 'tandem_bench ops'" ops --jsn
# The table of every processor says what would run, and refuses what is no instruction set.
all() { env "$1" "$(dirname "$0")/../../bench/run" all --list --build "$(dirname "$TANDEM_BIN")/.." "${@:2}" 2>&1; }
for isa in TANDEM_ISA= TANDEM_ISA=baseline; do
  listed=$(all "$isa" --isa avx2)
  case $listed in *"micro --build"*"--isa avx2"*"generate --build"*"--isa avx2"*) ;; *) fail "bench/run all --list does not name what runs" "$listed" ;; esac
done
listed=$(all TANDEM_ISA=avx3) && fail "bench/run all takes TANDEM_ISA=avx3" "$listed"
case $listed in *"TANDEM_ISA=avx3"*"avx2"*) ;; *) fail "bench/run all does not say what is wrong with TANDEM_ISA=avx3" "$listed" ;; esac
# Help builds nothing.
help=$("$(dirname "$0")/../../dev" bench --help 2>&1)
case $help in *building*) fail "./dev bench --help builds" "$help" ;; *usage:*) ;; *) fail "./dev bench --help does not help" "$help" ;; esac
finish
