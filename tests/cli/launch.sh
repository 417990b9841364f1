# `tandem launch` on this machine, without MPI.
. "$(dirname "$0")/common.sh.inc"

# sorted: $out in an order of its own, since ranks write when they like.
sorted() { sort <<< "$out"; }
expect_sorted() { [ "$(sorted)" = "$1" ] || fail "the output is not: $1" "$out"; }

# What a rank finds, and what becomes of what it writes.
call -- launch -n 3 bash -c 'echo $RANK of $WORLD_SIZE, $LOCAL_RANK of $LOCAL_WORLD_SIZE, $MASTER_ADDR, restart $TANDEM_LAUNCH_RESTART'
expect_status 0; expect_no_err
expect_sorted "[rank 0] 0 of 3, 0 of 3, 127.0.0.1, restart 0
[rank 1] 1 of 3, 1 of 3, 127.0.0.1, restart 0
[rank 2] 2 of 3, 2 of 3, 127.0.0.1, restart 0"
call -- launch -n 1 printf 'one\ntwo without an end'
[ "$out" = "[rank 0] one
[rank 0] two without an end" ] || fail "lines are not whole" "$out"
# "--" ends the options; another one is the program's.
call -- launch -n 1 -- printf '%s|' -n -- x
expect_status 0; expect_out '[rank 0] -n|--|x|'
wrong "how many ranks?" launch -- printf '%s|' -n
call -- launch -n 1 printf -- '%s|' -- x
expect_status 0; expect_out '[rank 0] --|x|'
# A program of Python's needs no interpreter named, nor to be executable.
printf 'import sys; print(sys.argv[1:], end="")' > program.py
call -- launch -n 1 "$PWD/program.py" --epochs 3
expect_status 0; expect_out "[rank 0] ['--epochs', '3']"
call TANDEM_PYTHON=echo -- launch -n 1 "$PWD/program.py"
expect_status 0; expect_out "[rank 0] -u $PWD/program.py"
wrong "unknown option --rank of 'tandem launch'; did you mean --ranks?" launch --rank 1 -- true

call -- launch -n 1 printf '10%%\r50%%\r100%%\ndone\r\n'
[ "$out" = "[rank 0] 100%
[rank 0] done" ] || fail "overwritten text is left" "$out"
call -- launch -n 2 bash -c 'echo wrong >&2'
expect_status 0; expect_no_out; [ "$(grep -c '^\[rank [01]\] wrong$' <<< "$err")" -eq 2 ] || fail "standard error is not kept apart" "$err"
call -- launch -n 1 cat
expect_status 0; expect_no_out
# More than fits into any buffer: every line arrives whole, in its rank's order.
call -- launch -n 2 seq 200000
for rank in 0 1; do
  [ "$(sed -n "s/^\[rank $rank\] //p" <<< "$out" | cksum)" = "$(seq 200000 | cksum)" ] || fail "lines of rank $rank are lost" ""
done

# One fails, and the others end with it; its error comes last.
call -- launch -n 3 bash -c 'if [ $RANK = 1 ]; then echo "it broke" >&2; exit 7; fi; sleep 100'
expect_status 7
[ "$(tail -2 <<< "$err")" = "[rank 1] it broke
tandem: launch: rank 1 ended with exit status 7" ] || fail "the failed rank's error is not last" "$err"
call -- launch -n 2 bash -c '[ $RANK = 0 ] && kill -SEGV $$; sleep 100'
expect_status 139; expect_err "rank 0 ended with signal 11 (Segmentation fault)"
# So do what they have started, and who does not listen to SIGTERM.
call -- launch -n 2 --grace 0.5 bash -c 'if [ $RANK = 1 ]; then until [ -s stubborn ]; do sleep 0.05; done; exit 3; fi
  trap "" TERM; echo $$ > stubborn; while :; do sleep 1; done'
expect_status 3
[ -s stubborn ] || fail "rank 0 has not run" "$out$err"
kill -0 "$(cat stubborn)" 2> /dev/null && fail "a rank is left" "$(cat stubborn)"
call -- launch -n 2 ./nowhere
expect_status 1; expect_err "'./nowhere' cannot be started: No such file or directory"

# Restarts.
call -- launch -n 2 --restarts 3 bash -c '[ $TANDEM_LAUNCH_RESTART = 2 ] && echo up || exit 5'
expect_status 0; expect_err "restart 1 of 3"; expect_err "restart 2 of 3"; expect_out "[rank 0] up"
call -- launch -n 1 --restarts 1 false
expect_status 1; expect_err "rank 0 ended with exit status 1; restart 1 of 1"

# Ctrl-C reaches every rank, and ends the job.
"$TANDEM_BIN" launch -n 2 bash -c 'trap "echo interrupted; exit 0" INT; touch up.$RANK; while :; do sleep 0.1; done' > interrupted 2> stderr &
launcher=$!
until [ -e up.0 ] && [ -e up.1 ]; do sleep 0.05; done
kill -INT $launcher; wait $launcher; status=$?
expect_status 130
[ "$(grep -c 'interrupted$' interrupted)" -eq 2 ] || fail "not every rank was interrupted" "$(cat interrupted stderr)"

# Devices.
call TANDEM_VIRTUAL_GPUS=4x64MiB -- launch -n 2 --gpus-per-rank 2 bash -c 'echo $CUDA_VISIBLE_DEVICES'
expect_status 0; expect_sorted "[rank 0] 0,1
[rank 1] 2,3"
call TANDEM_VIRTUAL_GPUS=4x64MiB CUDA_VISIBLE_DEVICES=3,1 -- launch -n 2 --gpus-per-rank 1 bash -c 'echo $CUDA_VISIBLE_DEVICES'
expect_sorted "[rank 0] 3
[rank 1] 1"
call TANDEM_VIRTUAL_GPUS=3x64MiB -- launch -n 2 --gpus-per-rank 2 true
expect_status 1; expect_err "2 ranks with 2 GPUs each need 4"; expect_err "where there are 3"

# A launcher that is killed takes its ranks along.
"$TANDEM_BIN" launch -n 1 bash -c 'echo $$ > orphan; exec sleep 100' > /dev/null 2>&1 &
launcher=$!
until [ -s orphan ]; do sleep 0.1; done
kill -9 $launcher; wait $launcher 2> /dev/null
for _ in $(seq 100); do kill -0 "$(cat orphan)" 2> /dev/null || break; sleep 0.1; done
kill -0 "$(cat orphan)" 2> /dev/null && fail "a rank outlives its launcher" "$(cat orphan)"

# Wrong calls.
wrong "which program?" launch -n 2
wrong "how many ranks?" launch true
wrong "did you mean --restarts" launch --restart 2 true
wrong "ranks" launch -n 0 true
wrong "cannot be read" launch --hosts nowhere true
printf 'node1 slots=two\n' > hosts; wrong "hosts:1: 'slots=two' needs a whole number" launch --hosts hosts true
printf 'node1 cores=2\n' > hosts; wrong "hosts:1: 'cores=2' is not understood" launch --hosts hosts true
printf '# nobody\n' > hosts; wrong "names no host" launch --hosts hosts true
printf 'node1 slots=2\nnode2 # one\n' > hosts; wrong "-n 4 is more than the 3 slots" launch -n 4 --hosts hosts true
call -- launch -n 1 --address 192.0.2.1 true
expect_status 1; expect_err "cannot listen on 192.0.2.1"
call PATH=/nowhere -- launch -n 1 --mpi true
expect_status 1; expect_err "there is no mpirun in PATH"
call -- launch --agent true
expect_status 1; expect_err "TANDEM_LAUNCH_CONTROL is not set"

finish
