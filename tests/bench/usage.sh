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
# Help builds nothing.
help=$("$(dirname "$0")/../../dev" bench --help 2>&1)
case $help in *building*) fail "./dev bench --help builds" "$help" ;; *usage:*) ;; *) fail "./dev bench --help does not help" "$help" ;; esac
finish
