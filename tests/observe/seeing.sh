# The versions of one program in docs/seeing.md do what the page says: seeing.sh FOLDER PAGE, FOLDER has the programs.
set -eu
folder=$1 page=$2
rm -f -- *.out *.said
fail() { echo "$*"; cat -- *.said 2> /dev/null; exit 1; }
first_loss() { sed -n 's/^epoch 1: loss //p' "$1"; }

# All versions but the fifth compute the same.
for version in 1_start 2_waits 3_memory 4_bytes 6_overlap; do
  TANDEM_LEDGER=log "$folder/seeing$version" 2 > "$version.out" 2> "$version.said" || fail "seeing$version failed"
  awk -v a="$(first_loss 1_start.out)" -v b="$(first_loss "$version.out")" 'BEGIN { exit !(a > 2 && b - a < 1e-4 && a - b < 1e-4) }' ||
    fail "seeing$version has another loss than seeing1_start: $(first_loss "$version.out"), $(first_loss 1_start.out)"
done

# The fifth races, at the two lines; the sixth neither races nor waits, and is not stopped by those who look.
code=0
TANDEM_RACES=fail "$folder/seeing5_race" 2 > 5_race.out 2> 5_race.said || code=$?
[ $code -eq 1 ] || fail "seeing5_race ended with $code under TANDEM_RACES=fail"
grep -q 'race on a tensor of uint8 .*written by stream 1 .*seeing5_race\.cpp:22, then read by stream 0 .*seeing5_race\.cpp:32' 5_race.said || fail "the race is not reported"
TANDEM_RACES=fail TANDEM_LEDGER=forbid "$folder/seeing6_overlap" 2 > 6_silent.out 2> 6_silent.said || fail "seeing6_overlap was stopped"
[ ! -s 6_silent.said ] || fail "seeing6_overlap is not silent"

# The second keeps all batches; the page of the memory names the line, and the GPU is full before 40 epochs have passed.
"$folder/seeing2_waits" 2 memory.html > memory.out
code=0
"$folder/seeing2_waits" 40 > full.out 2> full.said || code=$?
[ $code -ne 0 ] && grep -q 'CUDA out of memory.*Held by: [^ ]*seeing2_waits\.cpp:18 (' full.said || fail "seeing2_waits 40 found memory enough"

# Every line that the page names was named by the tools, and every line of code in it stands in a version.
grep -o 'seeing[0-9]_[a-z]*\.cpp:[0-9]*' "$page" | sort -u | while read -r line; do
  cat -- *.said memory.html | grep -q "$line\b" || fail "nothing names $line, as the page does"
done
sed -n '/^```cpp$/,/^```$/{/^```/d;p}' "$page" | while IFS= read -r line; do
  cat "$(dirname "$0")"/../../examples/seeing/* | grep -qxF -- "$line" || fail "no version has this line of the page: $line"
done
