# The list of devices, as a table and as JSON.
. "$(dirname "$0")/common.sh.inc"

call TANDEM_VIRTUAL_GPUS=2x256MiB -- devices
expect_status 0; expect_no_err
for word in cpu cuda:0 cuda:1 "256 MiB" virtual; do expect_out "$word"; done
call TANDEM_VIRTUAL_GPUS=1x2GiB -- devices
expect_out "2.0 GiB"
case "$out" in *cuda:1*) fail "a GPU too many" "$out" ;; esac
# Without a GPU the list ends with why there is none, and with how to get virtual ones.
call CUDA_VISIBLE_DEVICES= -- devices
expect_status 0; expect_out "no cuda device can be used: the CUDA plug-in "; expect_out "TANDEM_VIRTUAL_GPUS=2"
# With the plug-in there, so are the libraries that it would use.
case "$out" in *"found no usable GPU"*) for name in library version cuBLASLt cuDNN cuSOLVER; do expect_out "$name"; done ;; esac

call TANDEM_VIRTUAL_GPUS=3x64MiB,peer=off -- devices --json
expect_status 0; expect_no_err
printf '%s' "$out" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
devices = answer["devices"]
assert [d["device"] for d in devices] == ["cpu", "cuda:0", "cuda:1", "cuda:2"], devices
assert answer["libraries"] == [], "the host needs none"
assert 0 < devices[0]["free_memory"] < devices[0]["total_memory"] and devices[0]["cores"] >= 1 and devices[0]["instruction_set"], devices[0]
assert "links" not in answer and devices[1]["clock_mhz"] is None, devices[1]
assert devices[0]["total_memory"] > 1 << 20 and devices[0]["threads"] >= 1 and not devices[0]["virtual"]
for d in devices[1:]:
    assert d["virtual"] and "irtual" in d["name"] and d["total_memory"] == 64 << 20 and d["free_memory"] <= 64 << 20, d
    assert d["multi_processor_count"] >= 1 and d["uuid"] and d["peers"] == [], d
assert len({d["uuid"] for d in devices[1:]}) == 3
' || fail "the JSON is not as it should be" "$out"
call TANDEM_VIRTUAL_GPUS=2x64MiB -- devices --json
printf '%s' "$out" | python3 -c '
import json, sys
devices = json.load(sys.stdin)["devices"]
assert devices[1]["peers"] == ["cuda:1"] and devices[2]["peers"] == ["cuda:0"], devices
' || fail "the peers are not as they should be" "$out"
call TANDEM_VIRTUAL_GPUS=3x64MiB CUDA_VISIBLE_DEVICES=2,0 -- devices --json
printf '%s' "$out" | python3 -c '
import json, sys
assert [d["device"] for d in json.load(sys.stdin)["devices"]] == ["cpu", "cuda:0", "cuda:1"]
' || fail "CUDA_VISIBLE_DEVICES is not obeyed" "$out"
# Copies between the devices, both ways.
call TANDEM_VIRTUAL_GPUS=2x64MiB -- devices --measure --json
printf '%s' "$out" | python3 -c '
import json, sys
links = json.load(sys.stdin)["links"]
names = ["cpu", "cuda:0", "cuda:1"]
assert [(l["from"], l["to"]) for l in links] == [(a, b) for a in names for b in names if a != b], links
assert all(l["bytes_per_second"] > 1e6 for l in links), links
' || fail "the links are not as they should be" "$out"
call TANDEM_VIRTUAL_GPUS=2x64MiB,link=1GB/s -- devices --measure
expect_status 0; expect_out "GB/s from"; expect_out "to cuda:1"
call TANDEM_VIRTUAL_GPUS=1x4MiB -- devices --measure
expect_status 1; expect_one_line_error; expect_err "out of memory"
call CUDA_VISIBLE_DEVICES= -- devices --measure
expect_status 0
finish
