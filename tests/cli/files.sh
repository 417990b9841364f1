# Files of tensors: what is in them, and from one format into another.
. "$(dirname "$0")/common.sh.inc"
here=$(cd "$(dirname "$0")" && pwd)
blocks=$here/../io/gguf_blocks.gguf

# A file with tensors of several types and metadata, and one with a type that is not known here.
python3 - << 'PYTHON'
import json, struct
def write(path, header, data):
    header = json.dumps(header).encode()
    with open(path, "wb") as f: f.write(struct.pack("<Q", len(header)) + header + data)
write("net.safetensors", {"__metadata__": {"made_by": "a test"},
                          "fc.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
                          "fc.bias": {"dtype": "BF16", "shape": [2], "data_offsets": [24, 28]},
                          "steps": {"dtype": "I64", "shape": [], "data_offsets": [28, 36]}},
      struct.pack("<6f", *range(6)) + b"\x80\x3f\x00\x40" + struct.pack("<q", 7))
write("f8.safetensors", {"a": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [4, 8]},
                         "b": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, b"\0\0\x80\x3f1234")
PYTHON

call -- inspect net.safetensors
expect_status 0; expect_no_err
expect_out "net.safetensors: safetensors, 3 tensors, 9 elements, 36 B"
expect_out "  fc.weight  F32   [2, 3]  24 B"
expect_out "  made_by  a test"
call -- inspect net.safetensors --json
expect_status 0; expect_no_err
printf '%s' "$out" > inspected.json
python3 - << 'PYTHON' || fail "the JSON is another" "$out"
import json
found = json.load(open("inspected.json"))
assert found["format"] == "safetensors" and found["elements"] == 9 and found["bytes"] == 36, found
assert found["metadata"] == {"made_by": "a test"}, found
assert {"name": "fc.bias", "type": "BF16", "dtype": "bfloat16", "shape": [2], "bytes": 4} in found["tensors"], found
PYTHON
call -- inspect "$blocks"
expect_status 0; expect_out "gguf_blocks.gguf: GGUF, 20 tensors"; expect_out "tests.text"; expect_out "größe"
call -- inspect "$blocks" --json
expect_status 0; expect_out '"type": "Q4_K"'; expect_out '"dtype": "float32"'
call -- inspect f8.safetensors --json
expect_status 0; expect_out '"type": "F8_E4M3"'; expect_out '"dtype": null'
call -- inspect "$here/files.sh"
expect_status 1; expect_one_line_error; expect_err "files.sh: not a file of tensors that can be read, but text; what is read: safetensors"
call -- inspect none
expect_status 1; expect_one_line_error; expect_err "none: cannot open the file"

# There and back: shards, an archive, one file.
call -- convert net.safetensors shards/ --max-shard-size 30B
expect_status 0; expect_no_err; expect_out "shards/: 3 tensors, 36 B in 2 shards"
[ "$(ls shards | tr '\n' ' ')" = "model-00001-of-00002.safetensors model-00002-of-00002.safetensors model.safetensors.index.json " ] || fail "the shards are others" "$(ls shards)"
call -- inspect shards
expect_status 0; expect_out "shards: safetensors in shards, 3 tensors"; expect_out "model-00002-of-00002.safetensors"; expect_out "made_by"
call -- convert shards/model.safetensors.index.json all.npz --dtype float32 --json
expect_status 0; expect_no_err; expect_out '"format": "npz"'; expect_out '"tensors": 3'; expect_out '"bytes": 40'
call -- inspect all.npz
expect_status 0; expect_out "all.npz: npz, 3 tensors, 9 elements, 40 B"; expect_out "  fc.bias    float32  [2]      8 B"
call -- convert all.npz half.safetensors --dtype float16 --quiet
expect_status 0; expect_no_err; expect_no_out
call -- inspect half.safetensors
expect_out "F16"; expect_out "I64"  # numbers that are whole stay as they are
call -- convert shards back.safetensors
expect_status 0; expect_out "back.safetensors: 3 tensors, 36 B"
python3 - << 'PYTHON' || fail "the numbers are others" "$out"
import json, struct
def read(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    notes = header.pop("__metadata__", {})
    return {k: (v["dtype"], v["shape"], data[8 + size + v["data_offsets"][0]:8 + size + v["data_offsets"][1]]) for k, v in header.items()}, notes
before, after = read("net.safetensors"), read("back.safetensors")
assert before[0] == after[0], after
assert after[1]["made_by"] == "a test", after
half = read("half.safetensors")[0]
assert half["fc.weight"] == ("F16", [2, 3], struct.pack("<6e", *range(6))), half
PYTHON
call -- convert "$blocks" plain.safetensors
expect_status 0; expect_no_err; expect_out "plain.safetensors: 20 tensors"
call -- inspect plain.safetensors --json
expect_out '"tests.numbers": "[1,-2,3]"'; expect_out '"tests.text": "größe"'
call -- convert "$blocks" plain.pt
expect_status 0; expect_no_err; expect_out "plain.pt: 20 tensors"
call -- inspect plain.pt
expect_status 0; expect_out "plain.pt: PyTorch, 20 tensors"; expect_out "  Q8_0    float32  [2, 96]"
call -- convert f8.safetensors out.npy
expect_status 1; expect_one_line_error; expect_err "f8.safetensors: has tensors of types that no tensor here has: 'a': leave them out with --skip-others"
call -- convert f8.safetensors out.npy --skip-others
expect_status 0; expect_err "left out: 'a'"
call -- inspect out.npy
expect_status 0; expect_out "out.npy: npy, 1 tensor, 1 element, 4 B"

# What cannot be; what was there stays.
before=$(cksum all.npz)
call -- convert net.safetensors all.npz
expect_status 1; expect_one_line_error; expect_err "all.npz: NumPy has no type for the bfloat16 of 'fc.bias': convert with --dtype float32"
[ "$(cksum all.npz)" = "$before" ] || fail "the file was changed" ""
call -- convert net.safetensors one.npy
expect_status 1; expect_one_line_error; expect_err "one.npy: an .npy file holds one tensor, but there are 3: convert to .npz"
call -- convert none.safetensors x.npz
expect_status 1; expect_one_line_error; expect_err "none.safetensors: cannot open the file"
wrong "the format is not told by the ending of x.gguf" convert net.safetensors x.gguf
wrong "--max-shard-size is for a folder of shards" convert net.safetensors x.npz --max-shard-size 1GB
wrong "--max-shard-size: must be a size, as 2GiB, 500MB or 1000000, not 2Gi" convert net.safetensors x/ --max-shard-size 2Gi
wrong "--to: must be safetensors, shards, torch, npz or npy, not npx; did you mean npz, npy?" convert net.safetensors x --to npx
wrong "--dtype: must be float16, bfloat16, float32 or float64, not int8" convert net.safetensors x.npz --dtype int8
finish
