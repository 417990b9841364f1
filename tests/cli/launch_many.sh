# `tandem launch` of many ranks, among strangers, and where a rank leaves early. RANKS says how many; 512 in .ci/deep.
. "$(dirname "$0")/common.sh.inc"
ranks=${RANKS:-80}
meeting=$(dirname "$TANDEM_BIN")/launch_meeting
[ -x "$meeting" ] || fail "$meeting is missing" ""

# Programs that have nothing to do with tandem, and ranks that meet. Their limit of open files is the caller's, not the launcher's.
first_limit=$(ulimit -Sn)
ulimit -Sn 150
call -- launch -n "$ranks" bash -c '[ $(ulimit -Sn) = 150 ] || echo "the limit is $(ulimit -Sn)"'
expect_status 0; expect_no_out; expect_no_err
call -- launch -n "$ranks" --grace 60 "$meeting"
expect_status 0; expect_no_out; expect_no_err
ulimit -Sn "$first_limit"
# Fewer files than that many need, whatever is tried.
(ulimit -n 150; call -- launch -n 64 true; expect_status 1; expect_one_line_error
 expect_err "64 ranks need 256 open files, but a process may have 150 here at most: raise the hard limit"; exit $failures) || failures=$((failures + 1))

# Strangers that connect to the launcher, say nothing and stay: ranks that come later are let in, and those that are there stay.
cat > strangers.sh << 'END'
if [ "$RANK" = 0 ]; then
  address=${TANDEM_LAUNCH_CONTROL%:*} port=${TANDEM_LAUNCH_CONTROL#*:}
  for _ in $(seq 200); do exec {stranger}<> "/dev/tcp/$address/$port" || exit 9; done
  touch connected
else
  until [ -e connected ]; do sleep 0.05; done
fi
exec "$1"
END
call -- launch -n 3 bash strangers.sh "$meeting"
expect_status 0; expect_no_out; expect_no_err

# A rank that leaves early is named, not those that waited for it.
last_line() { [ "$(tail -1 <<< "$err")" = "tandem: launch: $1" ] || fail "the last line is not: $1" "$err"; }
named() {
  local line; line=$(tail -1 <<< "$err")
  for waiting in 0 2; do for ended in 0 2; do
    [ "$line" = "tandem: launch: rank 1 $1, while rank $waiting waited for it; rank $ended ended with exit status 1" ] && return
    [ "$line" = "tandem: launch: rank 1 $1 while rank $waiting waited for it; rank $ended ended with exit status 1" ] && return
  done; done
  fail "the last line does not say: rank 1 $1" "$err"
}
call -- launch -n 3 "$meeting" ends
expect_status 1; named "left early, with exit status 0"
call -- launch -n 3 "$meeting" leaves
expect_status 1; named "left its process group"
call -- launch -n 3 "$meeting" killed
expect_status 134; last_line "rank 1 ended with signal 6 (Aborted)"
call -- launch -n 2 "$meeting" absent
expect_status 1; last_line "rank 0 ended with exit status 1, after rank 1 had ended with exit status 0"

finish
