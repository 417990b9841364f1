# Which GPUs running programs use.
. "$(dirname "$0")/common.sh.inc"
programs=()
trap 'for pid in "${programs[@]}"; do kill -9 "$pid" 2> /dev/null; done' EXIT

# start ARGUMENTS: runs the program in the background until it is killed; its number is the last of $programs.
start() {
  "$@" > /dev/null 2>&1 &
  programs+=($!)
}
# until_smi PYTHON: waits until an expression of `gpus`, those of `tandem smi --json`, is true.
until_smi() {
  for _ in $(seq 600); do
    call -- smi --json
    [ "$status" -eq 0 ] && printf '%s' "$out" | python3 -c "
import json, sys
gpus = json.load(sys.stdin)['gpus']
of = lambda pid: [g for g in gpus if any(p['pid'] == pid for p in g['processes'])]
sys.exit(not ($1))" && return
    sleep 0.1
  done
  fail "never true: $1" "$out"
}

wrong "unknown option --nonsense" smi --nonsense
wrong "--query-gpu has no column 'nam'; did you mean name?" smi --query-gpu=nam
wrong "--format has no 'xml'" smi --query-gpu=name --format=xml
wrong "--format is csv" smi --query-gpu=name --format=noheader
wrong "" smi --query-gpu=name --json
wrong "" smi --watch 0

# A program that is started here would get these, where nobody uses any; others may run beside this test.
call TANDEM_VIRTUAL_GPUS=2x64MiB -- smi
expect_status 0; expect_no_err; expect_out "tandem virtual GPU"
call -- smi --help
expect_status 0; for option in --watch --json --query-gpu --format; do expect_out "$option"; done

# On a terminal it takes no more than the width.
for columns in 40 80 200; do
  out=$(NO_COLOR=1 TERM=xterm LC_ALL=C TANDEM_VIRTUAL_GPUS=2x64MiB python3 "$(dirname "$0")/../support/on_terminal.py" $columns "$TANDEM_BIN" smi)
  expect_out "MiB"; expect_out "tandem "
  printf '%s\n' "$out" | awk -v most=$columns 'length > most { exit 1 }' || fail "the table is wider than $columns columns" "$out"
done
expect_out "......"

start env TANDEM_VIRTUAL_GPUS=1x77MiB "$TANDEM_BIN" train linear --epochs 1000000 --quiet --out first
start env TANDEM_VIRTUAL_GPUS=2x88MiB "$TANDEM_BIN" train linear --epochs 1000000 --quiet --out second
first=${programs[0]} second=${programs[1]}
until_smi "len(of($first)) == 1 and len(of($second)) == 2"
until_smi "any(p['tensor_bytes'] > 0 and p['name'] == 'tandem' for p in of($second)[0]['processes'])"
until_smi "not {g['uuid'] for g in of($first)} & {g['uuid'] for g in of($second)}"
until_smi "of($first)[0]['program'] == $first and of($first)[0]['memory_total'] == 77 << 20 and of($second)[1]['index'] == 1"
until_smi "all(0 <= g['utilization'] <= 100 and g['temperature'] is None and g['virtual'] for g in of($first) + of($second))"
until_smi "of($second)[0]['utilization'] > 0"
call -- smi
for part in "77MiB" "88MiB" "$first" "$second" "tandem virtual GPU"; do expect_out "$part"; done
call -- smi --query-gpu=index,memory.total,program,temperature.gpu --format=csv,noheader,nounits
expect_status 0; expect_out "0, 77, $first, [N/A]"; expect_out "1, 88, $second, [N/A]"
call -- smi --query-gpu=name,memory.total
expect_out "name, memory.total [MiB]"; expect_out "tandem virtual GPU, 77 MiB"

# Watching survives one being killed, and shows it no longer.
start "$TANDEM_BIN" smi --watch 0.1 --query-gpu=program --format=csv,noheader
"$TANDEM_BIN" smi --watch 0.1 --json > watched 2>&1 &
watch=$!; programs+=("$watch")
until_watched() {
  for _ in $(seq 600); do python3 - "$@" << 'EOF' && return; sleep 0.1; done
import json, sys
first, second = map(int, sys.argv[1:3])
wanted = set(map(int, sys.argv[3:]))
lines = [line for line in open("watched") if line.endswith("\n")]
sys.exit(not lines or {g["program"] for g in json.loads(lines[-1])["gpus"]} & {first, second} != wanted)
EOF
  fail "watching never shows ${*:3}" "$(tail -1 watched)"
}
until_watched "$first" "$second" "$first" "$second"
kill -9 "$first"; wait "$first" 2> /dev/null
until_watched "$first" "$second" "$second"
kill -0 "$watch" 2> /dev/null || fail "the watcher has ended" "$(tail -3 watched)"
case "$(cat /proc/net/unix)" in *"@tandem-smi-$(id -u)-$first-"*) fail "a killed program leaves its name" "$first" ;; esac
kill -9 "$second"; wait "$second" 2> /dev/null
until_watched "$first" "$second"

# The ranks of one job share their GPUs.
start env TANDEM_VIRTUAL_GPUS=1x99MiB "$TANDEM_BIN" launch -n 2 "$TANDEM_BIN" train linear --epochs 1000000 --quiet --out job
until_smi "any(g['memory_total'] == 99 << 20 and len(g['processes']) == 2 for g in gpus)"
kill "${programs[-1]}"; wait "${programs[-1]}" 2> /dev/null
finish
