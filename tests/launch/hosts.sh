# `tandem launch` across four hosts made of network namespaces: that ranks are where they should be, what is said where one is lost, and that
# training gives the same weights as in one process, also where a host was lost on the way. $1: where the programs are.
. "$(dirname "$0")/hosts.sh.inc"
make_hosts node1 node2 node3 node4
printf 'node%d slots=1\n' 1 2 3 4 > "$folder/four"

# Every rank on its host, with its address for the first one.
launch -- --hosts "$folder/four" bash -c 'echo "$RANK of $WORLD_SIZE on $(hostname), first on $MASTER_ADDR, local $LOCAL_RANK of $LOCAL_WORLD_SIZE"'
expect_status 0
for i in 0 1 2 3; do expect_out "^\[rank $i\] $i of 4 on node$((i + 1)), first on 10.77.0.2, local 0 of 1$"; done
nobody_left

# A rank killed by its host.
launch -- --hosts "$folder/four" --grace 2 bash -c 'if [ $RANK = 2 ]; then kill -9 $$; fi; sleep 60'
expect_status 137
expect_err 'rank 2 on host node3 ended with signal 9 \(Killed\)$'
nobody_left

# A host that is cut off once its rank has started; after that it comes back, and the job is started again.
( until grep -q "rank 1. ready" "$folder/out" 2> /dev/null; do sleep 0.1; done; cut_off node2
  until grep -q "is lost" "$folder/err"; do sleep 0.1; done; bring_back node2 ) &
launch -- --hosts "$folder/four" --lost-after 3 --grace 2 --restarts 1 bash -c 'echo ready $TANDEM_LAUNCH_RESTART; [ $TANDEM_LAUNCH_RESTART = 1 ] || sleep 60'
wait
expect_status 0
expect_err 'rank 1 on host node2 is lost: nothing was heard from there for 3 s; restart 1 of 1$'
expect_out '^\[rank 1\] ready 1$'
nobody_left

# The digits, on four hosts over TCP, as in one process with the whole batch.
digits=$1/mpi_digits losses=$1/mpi_losses
same_weights() { "$digits" compare "$folder/alone" "$1" > "$folder/compared" 2>&1 || fail "the weights are not those of one process" "$(cat "$folder/compared")"; }
on node1 env -u RANK "$digits" "$folder/alone" > "$folder/log" 2>&1 || fail "training alone" "$(cat "$folder/log")"
launch TANDEM_VIRTUAL_GPUS=1x64MiB -- --hosts "$folder/four" "$digits" "$folder/four-hosts"
expect_status 0
same_weights "$folder/four-hosts"
nobody_left

# A host that is cut off while all others wait for it in a collective: each of them names it, and so does the launcher.
( until [ "$(grep -c "ready" "$folder/out" 2> /dev/null)" -ge 3 ]; do sleep 0.1; done; cut_off node3 ) &
launch TANDEM_VIRTUAL_GPUS=1x64MiB -- --hosts "$folder/four" --lost-after 3 --grace 5 "$losses" cut
wait
bring_back node3
expect_status 1
for rank in 0 1 3; do expect_out "^\[rank $rank\] error: .*rank 2 on host node3 is lost: nothing was heard from there for 3 s"; done
expect_err 'rank 2 on host node3 is lost: nothing was heard from there for 3 s$'
nobody_left

# The same for a rank that is killed.
launch TANDEM_VIRTUAL_GPUS=1x64MiB -- --hosts "$folder/four" "$losses" killed
expect_status 137
for rank in 0 2 3; do expect_out "^\[rank $rank\] error: .*rank 1 on host node2 ended with signal 9"; done
nobody_left

# Training goes on from the last checkpoint once the host is back, and comes to the same weights.
( until grep -q "in the middle" "$folder/out" 2> /dev/null; do sleep 0.1; done; cut_off node4
  until grep -q "is lost" "$folder/err"; do sleep 0.1; done; bring_back node4 ) &
launch -- --hosts "$folder/four" --lost-after 3 --grace 2 --restarts 2 "$digits" "$folder/restarted" endless
wait
expect_status 0
expect_err 'rank 3 on host node4 is lost.*; restart 1 of 2$'
same_weights "$folder/restarted"
nobody_left

finish
