# ONNX models: what they hold, and what they give. The models are those of the fuzzer's corpus.
. "$(dirname "$0")/common.sh.inc"
corpus=$(cd "$(dirname "$0")/../fuzz/corpus/onnx" && pwd)

call -- onnx check "$corpus/conv"
expect_status 0; expect_no_err
expect_out "9 parameters, ai.onnx version 17"
expect_out "  x  float[N, 1, 4, 4]"
expect_out "  Conv  1"

call -- onnx check "$corpus/conv" --json
expect_status 0; expect_no_err
printf '%s' "$out" | python3 -c "
import json, sys
found = json.load(sys.stdin)
assert found['inputs'] == [{'name': 'x', 'type': 'float', 'sizes': ['N', 1, 4, 4]}], found
assert found['operators'] == {'Conv': 1, 'Relu': 1} and found['missing'] == [] and found['opsets'] == {'ai.onnx': 17}, found
" || fail "the JSON is not what it should be" "$out"

# An operator that tandem does not have: "Relu" becomes "Rely".
sed 's/Relu/Rely/' "$corpus/conv" > missing.onnx
call -- onnx check missing.onnx
expect_status 1; expect_out "missing: Rely (version 17)"
call -- onnx run missing.onnx "$corpus/conv"
expect_status 1; expect_one_line_error

python3 - << 'PYTHON'
import struct, zipfile
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 4, 4), }"
header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
with zipfile.ZipFile("x.npz", "w") as archive:
    archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<16f", *[1.0] * 16))
PYTHON
for device in cpu cuda:0; do
  call TANDEM_VIRTUAL_GPUS=1 -- onnx run "$corpus/conv" x.npz --output y.npz --device $device
  expect_status 0; expect_no_err; expect_out "y  float32[1, 1, 4, 4]"
  python3 - << 'PYTHON' || fail "the numbers are not what they should be" ""
import struct, zipfile
bytes = zipfile.ZipFile("y.npz").read("y.npy")
numbers = struct.unpack("<16f", bytes[-64:])
assert numbers == (4, 6, 6, 4, 6, 9, 9, 6, 6, 9, 9, 6, 4, 6, 6, 4), numbers
PYTHON
done
call -- onnx run "$corpus/conv" x.npz
expect_status 0; expect_out "y = "
call -- onnx run "$corpus/conv" x.npz --repeat 3
expect_status 0; expect_out "median of 3 runs: "; expect_out " ms"
call -- onnx run "$corpus/conv" x.npz --repeat 1
expect_status 0; expect_out "median of 1 runs: "
call -- onnx run "$corpus/conv" x.npz --repeat 0
expect_status 2
call -- onnx run "$corpus/conv" x.npz --device nowhere
expect_status 2; expect_one_line_error
call -- onnx run "$corpus/conv"
expect_status 2
finish
