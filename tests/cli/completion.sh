# What shells offer while a command line is typed, each asked as it asks itself; and that the manual page names the commands.
. "$(dirname "$0")/common.sh.inc"
packaging=$(cd "$(dirname "$0")/../../packaging" && pwd)

# offers EXPECTED WORD...: what the program says, without descriptions, on one line.
offers() {
  local expected=$1; shift
  call -- --complete "$@"
  expect_status 0; expect_no_err
  out=$(cut -f 1 <<< "$out" | tr '\n' ' ')
  [ "$out" = "${expected:+$expected }" ] || { [ -z "$expected" ] && [ "$out" = ' ' ]; } || fail "not offered: $expected" "$out"
}
offers "tour devices train predict generate inspect convert launch smi trace board onnx" ""
offers "tour train trace" t
offers "digits" train d
offers "cnn mlp" train digits --net ""
offers "adam adamw adamax adagrad adadelta" train digits --quiet --optimizer ad
offers "--epochs" train digits --ep
offers "--gpus" train digits --epochs 3 --g
offers "" train digits --out ""
offers "" predict run
offers "safetensors shards torch npz npy" convert a b --to ""
offers "--dtype" convert --d
offers "" nonsense x
call -- --complete tou
expect_out "tour	Show how GPUs are used"

for name in $("$TANDEM_BIN" --complete "" | cut -f 1); do
  grep -qx "\.B $name" "$packaging/tandem.1" || fail "the manual page lacks $name" ""
done

# The shells themselves, where they are installed, with the program on their path.
mkdir -p path && ln -sf "$TANDEM_BIN" path/tandem
export PATH=$PWD/path:$PATH
out=$(bash --norc -c '. "$1"; COMP_WORDS=(tandem train digits --net c); COMP_CWORD=4; _tandem; printf "%s " "${COMPREPLY[@]}"' bash "$packaging/completions/tandem.bash")
[ "$out" = "cnn " ] || fail "bash offers" "$out"
if command -v fish > /dev/null; then
  out=$(HOME=$PWD fish --no-config -c 'source $argv[1]; complete -C "tandem train digits --net "' "$packaging/completions/tandem.fish" 2> /dev/null | cut -f 1 | tr '\n' ' ')
  case "$out" in *"cnn "*"mlp "*) ;; *) fail "fish offers" "$out" ;; esac
fi
if command -v zsh > /dev/null; then
  # _describe and _files stand in for zsh's own, which need a terminal.
  out=$(zsh -f -c '_describe() { print -r -- ${(P)2} }; _files() { print files }; words=(tandem train digits --net ""); CURRENT=5; . "$1"' zsh "$packaging/completions/_tandem")
  case "$out" in *"cnn:"*"mlp:"*) ;; *) fail "zsh offers" "$out" ;; esac
fi
finish
