# The event file of a run, read by TensorBoard itself. Skipped where it is not installed: .ci/tensorboard installs it in a virtual environment.
. "$(dirname "$0")/common.sh.inc"

rm -rf run
call TANDEM_VIRTUAL_GPUS=2x64MiB -- train digits --gpus 2 --epochs 3 --net mlp --batch 100 --tensorboard --quiet --out run
expect_status 0
[ "$(ls run/tensorboard | wc -l)" -eq 1 ] || fail "not one event file" "$(ls run/tensorboard)"

python=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tandem/tensorboard-venv/bin/python
[ -x "$python" ] || python=python3
"$python" -c 'import tensorboard' 2> /dev/null || {
  echo "SKIPPED: TensorBoard is not installed; .ci/tensorboard installs and uses it"
  exit 77
}
"$python" - run/tensorboard run/summary.json << 'PYTHON' > python.log 2>&1 || fail "TensorBoard reads something else" "$(tail -15 python.log)"
import glob, json, sys
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.plugins.hparams import plugin_data_pb2

folder, summary = sys.argv[1], json.load(open(sys.argv[2]))
# Its own reader of records checks lengths and checksums.
records = list(RawEventFileLoader(glob.glob(folder + "/events.out.tfevents.*")[0]).Load())
assert len(records) > 20, len(records)

events = event_accumulator.EventAccumulator(folder, size_guidance={name: 0 for name in event_accumulator.DEFAULT_SIZE_GUIDANCE})
events.Reload()
tags = events.Tags()
assert set(tags["scalars"]) >= {"train_loss", "val_loss", "val_acc"} or set(tags["tensors"]) >= {"train_loss", "val_loss", "val_acc"}, tags

def scalars(tag):
    if tag in tags["scalars"]:
        return [(e.step, e.value) for e in events.Scalars(tag)]
    return [(e.step, e.tensor_proto.float_val[0]) for e in events.Tensors(tag)]

# 1,437 digits in batches of 100: 15 steps an epoch.
assert [step for step, _ in scalars("val_acc")] == [15, 30, 45], scalars("val_acc")
assert len(scalars("train_loss")) == 6
assert abs(scalars("val_acc")[-1][1] - summary["accuracy"]) < 1e-6
assert abs(scalars("val_loss")[-1][1] - summary["val_loss"]) < 1e-6

assert len(tags["histograms"]) == 4, tags["histograms"]
histogram = events.Histograms("net.1.weight")[0].histogram_value
assert histogram.num == 64 * 128 == sum(histogram.bucket), histogram.num
assert histogram.min < 0 < histogram.max and len(histogram.bucket) == len(histogram.bucket_limit)
assert histogram.bucket_limit == sorted(histogram.bucket_limit)

pictures = [tag for tag in tags["images"] if tag.startswith("mistakes/")]
assert pictures, tags["images"]
picture = events.Images(pictures[0])[0]
assert (picture.width, picture.height) == (8, 8) and picture.encoded_image_string.startswith(b"\x89PNG"), picture
assert "64" in events.Tensors("network/text_summary")[0].tensor_proto.string_val[0].decode()
assert events.SummaryMetadata("network/text_summary").plugin_data.plugin_name == "text"

def hparams(tag):
    return plugin_data_pb2.HParamsPluginData.FromString(events.SummaryMetadata("_hparams_/" + tag).plugin_data.content)

start = hparams("session_start_info").session_start_info.hparams
assert start["lr"].number_value == 0.003 and start["optimizer"].string_value == "adam" and start["data_parallel"].bool_value is True, start
experiment = hparams("experiment").experiment
types = {info.name: info.type for info in experiment.hparam_infos}
assert types.items() >= {"batch": 3, "data_parallel": 2, "lr": 3, "optimizer": 1}.items(), types
assert [info.name.tag for info in experiment.metric_infos] == ["hparam/val_acc", "hparam/val_loss"]
assert hparams("session_end_info").session_end_info.status == 1
PYTHON
finish
