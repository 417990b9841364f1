# Every collective between ranks that mpirun has started. $1: where the programs are.
. "$(dirname "$0")/ranks.sh.inc"
export TANDEM_VIRTUAL_GPUS=1x256MiB

for ranks in 2 4; do
  under_mpirun $ranks "$bin/mpi_collectives" --gtest_brief=1
  [ "$status" -eq 0 ] || [ "$status" -eq 125 ] || fail "exit status $status with $ranks ranks" "$(grep -v "^\[" <<< "$out" | tail -20)"
  [ "$(grep -c "PASSED" <<< "$out")" -eq $ranks ] || fail "not all of $ranks ranks have passed" "$out"
done
finish
