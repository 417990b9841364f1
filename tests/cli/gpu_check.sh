# bench/gpu/check on a tree of programs that only look like ours: no step lasts longer than it may, and a check goes on where it was left.
. "$(dirname "$0")/common.sh.inc"
check=$(cd "$(dirname "$0")/../.." && pwd)/bench/gpu/check

program() { printf '#!/bin/bash\n%s\n' "$2" > "tree/bin/$1"; chmod +x "tree/bin/$1"; }
rm -rf tree out && mkdir -p tree/bin tree/lib tree/cases out
touch tree/lib/libtandem_cuda.so tree/cases/{a,b,c}.json tree/known.txt
program tandem 'echo "cuda:0"'
for name in program_works program_nccl tandem_bench; do program $name 'exit 0'; done
program golden 'for file in "$@"; do case $file in *b.json) echo "error in b"; exit 1 ;; esac; done'
# A hundred tests that take no time, one that fails, one that never ends.
program test_many '
if [ "$1" = --gtest_list_tests ]; then
  echo "Running main() from somewhere"; echo "Fast."
  for i in $(seq 100); do echo "  Test/$i  # GetParam() = $i"; done
  printf "Slow.\n  Endless\n  DISABLED_Never\nBad.\n  Fails\n"
  exit
fi
echo "${1#--gtest_filter=}" | tr : "\n" > names
cat names >> "$SEEN"
grep -q Endless names && sleep 100
! grep -q Bad names'

err=
go() { out=$(SEEN=$PWD/seen bash "$check" --limit 1 --out "$PWD/out" "$@" "$PWD/tree" 2>&1); status=$?; }
go
expect_status 1
for text in "many (some of 102): FAILED (124)" "many (some of 102): FAILED (1)" "golden (some of 3): FAILED (1)" "program_works: passed" \
  "failed: golden" "failed: many"; do expect_out "$text"; done
for name in Fast.Test/1 Fast.Test/100 Slow.Endless Bad.Fails; do grep -qx "$name" seen || fail "never run: $name" "$(cat seen)"; done
grep -q Never seen && fail "a disabled test was run" "$(cat seen)"

# What can't end in time is left for the next call; what is done is not done again.
go --limit 2 --within 1
expect_status 3
for text in "not done yet: many" "not done yet: golden" "go on with --resume"; do expect_out "$text"; done
program test_many 'if [ "$1" = --gtest_list_tests ]; then printf "Fast.\n  Test\n"; fi; echo "$1" >> "$SEEN"'
program golden 'echo golden >> "$SEEN"'
go --limit 50 --within 100 --resume
expect_status 0; expect_out "everything passed"
rm -f seen
go --limit 50 --within 100 --resume
expect_status 0
grep -q golden seen && fail "the golden cases ran twice" "$(cat seen)"
go --limit 0
expect_status 2; expect_out "--limit needs a number of seconds"
finish
