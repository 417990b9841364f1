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

# What random data gave is not told of as if it were the data set's: on the page, in the result, in the summary, to who asks it for digits.
page() { python3 -c 'import re, sys; print(re.search("<p class=\"subtitle\">(.*?)</p>", open(sys.argv[1]).read()).group(1))' "$1/report.html"; }
[ "$(page runs/learned)" = "Random pictures of the shape of those of mnist, not the pictures themselves" ] || fail "the page's title" "$(page runs/learned)"
[ "$(value runs/learned synthetic)" = True ] || fail "mnist --synthetic is not called synthetic" "$(cat runs/learned/summary.json)"
call -- predict runs/learned/checkpoint.safetensors picture.png
expect_status 1; expect_one_line_error; expect_err "this network has learned random pictures (--synthetic), no digits"
call -- train mnist --net mlp --gpus 0 --synthetic --samples 60 --epochs 1 --out runs/said
expect_status 0; expect_out "of 12 held-out random samples right"
call -- train linear --gpus 0 --epochs 1 --quiet --out runs/linear
[ "$(value runs/linear synthetic)" = True ] && [ "$(value runs/cifar synthetic)" = True ] && [ "$(value runs/imdb synthetic)" = True ] ||
  fail "random data is not called synthetic" "$(cat runs/linear/summary.json)"

# A limited run was not judged by all samples. Counts are whole numbers. train_loss is one number wherever it stands.
call -- train digits --net mlp --gpus 0 --epochs 1 --limit-batches 3 --out runs/limited
expect_status 0; expect_out " on held-out samples, after"
[ "$(value runs/limited synthetic)" = False ] || fail "the digits are called synthetic" "$(cat runs/limited/summary.json)"
call -- train linear --gpus 0 --samples 20 --batch 4 --epochs 2 --out runs/few
expect_status 0
python3 - "$err" << 'PYTHON' || fail "the report's numbers" "$err"
import json, re, sys
page = open("runs/few/report.html").read()
assert re.search("<th>parameters</th><td>3</td>", page) and re.search("<th>steps</th><td>6</td>", page), "counts"
loss = json.load(open("runs/few/summary.json"))["train_loss"]
shown = re.search("epoch 2/2: train_loss ([0-9.]+)", sys.argv[1]).group(1)
assert shown == f"{loss:.4f}", (shown, loss)
assert re.search(f"<tr><td>2</td>(<td[^>]*>[^<]*</td>)*<td>{re.escape(shown)}</td>", page), "epochs"
PYTHON

# Settings that nobody gave and that do nothing are no rows of the page; what was given is one. Tiny memory is not none.
call TANDEM_VIRTUAL_GPUS=1x64MiB -- train linear --gpus 1 --epochs 1 --samples 20 --clip 0 --out runs/rows
expect_status 0; expect_out " on 10 held-out random samples, after"
python3 - << 'PYTHON' || fail "the report's rows" ""
import re
page = open("runs/rows/report.html").read()
rows = dict(re.findall("<tr><th>([^<]*)</th><td>([^<]*)</td></tr>", page))
assert "" not in rows.values() and not {"data", "limit-batches", "patience"} & set(rows), rows
assert rows["gpus"] == "1" and rows["clip"] == "0.0", rows
memory = re.search("<td>cuda:0</td><td>([^<]*)</td><td>([^<]*)</td>", page).groups()
assert memory[1] == "&lt;0.01", memory
PYTHON

# `epochs` of the summary are those done.
call -- train digits --net mlp --gpus 0 --lr 10 --optimizer sgd --patience 1 --epochs 50 --quiet --out runs/stopped
expect_status 0
[ "$(value runs/stopped epochs)" -lt 50 ] || fail "a run that stopped early says how many epochs it was to have" "$(cat runs/stopped/summary.json)"

call -- train digits --clip -1
expect_status 2; expect_one_line_error; expect_err "--clip: must be a number from 0 on, not -1"
call -- train digits --out ''
expect_status 2; expect_one_line_error; expect_err "--out: must not be empty"
call -- train mnist
expect_status 2; expect_one_line_error; expect_err "needs --data FOLDER with its files, or --synthetic"
call -- train mnist --data nowhere --gpus 0
expect_status 1; expect_one_line_error; expect_err "nowhere"
call -- train digits --net transformer
expect_status 2; expect_one_line_error; expect_err "transformer"
call -- train digits --optimizer none
expect_status 2; expect_one_line_error; expect_err "adam"
finish
