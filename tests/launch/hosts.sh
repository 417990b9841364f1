# `tandem launch` across four hosts made of network namespaces: that ranks are where they should be, and what is said where one is lost.
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

finish
