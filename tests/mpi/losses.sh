# What the other ranks are told when one goes wrong, under mpirun and under tandem launch: never a hang. $1: where the programs are.
. "$(dirname "$0")/ranks.sh.inc"
export TANDEM_VIRTUAL_GPUS=1x64MiB
program=$bin/mpi_losses

bare() { under_mpirun 3 "$program" "$1"; }
expect_ended() { [ "$status" -ne 124 ] || fail "it hangs" "$out"; [ "$status" -ne 0 ] || fail "it succeeds" "$out"; }

bare none; case $status in 0 | 125) ;; *) fail "exit status $status" "$out" ;; esac
[ "$(grep -c "no error" <<< "$out")" -eq 3 ] || fail "three ranks without an error" "$out"
bare killed; expect_ended; expect_out "signal 9"
bare exits; expect_ended
bare leaves; expect_ended; expect_out "rank 1 (host "; expect_out "has left the group"
bare aborts; expect_ended; expect_out "rank 1 has had enough"
bare late; expect_ended; expect_out "the time limit has passed"; expect_out "is in recv of float32"

export TANDEM_DISTRIBUTED_DEBUG=detail
bare differs; expect_ended
expect_out "ranks differ: rank 0 (host "; expect_out "called all_reduce of float32 [1000] (SUM) at "; expect_out "called broadcast of float32 [1000] from rank 0 at "
unset TANDEM_DISTRIBUTED_DEBUG

# Under the launcher every other rank is told of the rank that was lost, and the launcher ends as it did.
under_launch() { call OMPI_MCA_rmaps_base_oversubscribe=1 -- launch -n 3 --mpi "$program" "$1"; }
under_launch killed; expect_status 137
for rank in 0 2; do expect_out "[rank $rank] error: "; done
[ "$(grep -c "error: .*rank 1 .*ended with signal 9" <<< "$out")" -eq 2 ] || fail "both others name rank 1 and its signal" "$out$err"
expect_err "ended with signal 9 (Killed)"
under_launch exits; expect_status 3
[ "$(grep -cE "error: .*rank 1 .*(ended with exit status 3|the program is ending)" <<< "$out")" -ge 1 ] || fail "nobody names rank 1 and says that it ends" "$out$err"
under_launch throws; expect_status 1
[ "$(grep -cE "error: .*rank 1 .*(ended with exit status 1|the program is ending)" <<< "$out")" -ge 1 ] || fail "nobody names rank 1 and says that it ends" "$out$err"

finish
