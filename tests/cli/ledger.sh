# Every training loop under TANDEM_LEDGER: it waits only where the library says so.
. "$(dirname "$0")/common.sh.inc"

forbid() {  # GPUS RECIPE OPTIONS…
  local gpus=$1
  shift
  call TANDEM_VIRTUAL_GPUS=${gpus}x1GiB TANDEM_LEDGER=forbid -- train "$@" --epochs 2 --out "runs/$1-$gpus"
  expect_status 0; expect_err "epoch 2/2"
}
for gpus in 1 2; do
  forbid $gpus digits
  forbid $gpus mnist --synthetic --samples 40 --batch 8
  forbid $gpus fashion --synthetic --samples 40 --batch 8
  forbid $gpus cifar --limit-batches 2 --batch 8 --samples 40
  forbid $gpus imdb --limit-batches 2 --batch 8 --samples 40
done

# What is waited for all the same says why.
call TANDEM_VIRTUAL_GPUS=1x64MiB TANDEM_LEDGER=log:runs/a/ledger.txt -- train digits --epochs 2 --quiet --out runs/log
expect_status 0
out=$(cat runs/a/ledger.txt)
expect_out "(the Trainer's reading of losses, ordered by that line)"
expect_out "(allowed: the mistakes are read after training)"
unsaid=$(grep -E '^ *[0-9.]+ (us|ms|s) ' runs/a/ledger.txt | grep -vE 'copy by |ordered by that line|allowed: |full queue')
[ -z "$unsaid" ] || fail "waits that nobody answers for" "$unsaid"
finish
