# Each recipe with each of its networks, on a little random data; and data that is missing.
. "$(dirname "$0")/common.sh.inc"

value() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1/summary.json" "$2"; }
small() {  # RECIPE NET PARAMETERS OPTIONS…
  local recipe=$1 net=$2 parameters=$3
  shift 3
  call TANDEM_VIRTUAL_GPUS=2x1GiB -- train "$recipe" --net "$net" --epochs 1 --limit-batches 1 --quiet --out "runs/$net" "$@"
  expect_status 0; expect_no_err
  [ "$(value "runs/$net" parameters)" = "$parameters" ] || fail "$net: parameters" "$(cat "runs/$net/summary.json")"
}
small digits mlp 9610
small mnist cnn 1199882 --synthetic --samples 40 --batch 8
small fashion lenet 129068 --synthetic --samples 40 --batch 8
small mnist mlp 235146 --synthetic --samples 40 --batch 8
small mnist resnet18 11175818 --synthetic --samples 10 --batch 4
call -- train cifar --gpus 0 --epochs 1 --limit-batches 2 --batch 8 --samples 60 --quiet --out runs/cifar
expect_status 0; [ "$(value runs/cifar parameters)" = 3441592 ] || fail "cifar" "$(cat runs/cifar/summary.json)"
call -- train imdb --gpus 0 --epochs 1 --limit-batches 2 --batch 8 --samples 60 --quiet --out runs/imdb
expect_status 0; [ "$(value runs/imdb parameters)" = 3818302 ] || fail "imdb" "$(cat runs/imdb/summary.json)"

# Random pictures of classes can be learned.
call -- train mnist --net mlp --gpus 0 --synthetic --samples 600 --epochs 2 --quiet --out runs/learned
expect_status 0
python3 -c 'import sys; sys.exit(not float(sys.argv[1]) > 0.9)' "$(value runs/learned accuracy)" || fail "nothing is learned" "$(cat runs/learned/summary.json)"

call -- train mnist
expect_status 2; expect_one_line_error; expect_err "needs --data FOLDER with its files, or --synthetic"
call -- train mnist --data nowhere --gpus 0
expect_status 1; expect_one_line_error; expect_err "nowhere"
call -- train digits --net transformer
expect_status 2; expect_one_line_error; expect_err "transformer"
call -- train digits --optimizer none
expect_status 2; expect_one_line_error; expect_err "adam"
finish
