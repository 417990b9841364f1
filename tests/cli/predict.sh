# One's own pictures of digits: files made from digits of the data set, dark on light and light on dark, enlarged, off the middle.
. "$(dirname "$0")/common.sh.inc"

call -- train digits --gpus 0 --epochs 6 --quiet --out run
expect_status 0

python3 - "$(dirname "$0")/../../src/data/digits.csv.gz" << 'PYTHON'
import gzip, struct, sys, zlib

def png(path, rows):
    raw = b"".join(b"\0" + bytes(row) for row in rows)
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))

wanted = dict.fromkeys(range(10))
for line in gzip.open(sys.argv[1], "rt"):
    fields = [float(x) for x in line.split(",")] if line[0].isdigit() else None
    if fields and wanted[int(fields[-1])] is None:
        wanted[int(fields[-1])] = fields[:64]
for digit, pixels in wanted.items():
    dark_on_light = digit % 2 == 0
    grey = lambda value: int(255 - value * 15) if dark_on_light else int(value * 15)
    blank = grey(0)
    size = 12 + digit  # enlarged so many times, with a wide rim that is wider on one side
    rows = [[blank] * (8 * size + 90) for _ in range(20)]
    for y in range(8 * size):
        rows.append([blank] * 30 + [grey(pixels[y // size * 8 + x // size]) for x in range(8 * size)] + [blank] * 60)
    rows += [[blank] * (8 * size + 90) for _ in range(50)]
    png(f"digit{digit}.png", rows)
png("empty.png", [[200] * 40] * 40)
PYTHON

call -- predict run/checkpoint.safetensors digit?.png --json
expect_status 0; expect_no_err
printf '%s' "$out" > predictions.json
python3 - << 'PYTHON' || fail "the digits are not told" "$out"
import json
found = json.load(open("predictions.json"))
assert [f["file"] for f in found] == [f"digit{i}.png" for i in range(10)]
right = sum(f["prediction"] == f["file"][5] for f in found)
assert right >= 9, f"{right} of 10"
for f in found:
    assert len(f["probabilities"]) == 3 and max(f["probabilities"], key=f["probabilities"].get) == f["prediction"]
    assert 0 < sum(f["probabilities"].values()) <= 1.0001
PYTHON
call -- predict run/checkpoint.safetensors digit4.png --top 1
expect_status 0; expect_out "digit4.png  4 "
# A file's name may be any bytes; what of it is no UTF-8 is U+FFFD in JSON.
cp digit4.png $'digit\xff.png'
call -- predict run/checkpoint.safetensors $'digit\xff.png' --json
expect_status 0; expect_no_err; expect_out $'"digit\xef\xbf\xbd.png"'

# What is no digit, no picture, no network.
call -- predict run/checkpoint.safetensors empty.png
expect_status 1; expect_one_line_error; expect_err "empty.png: nothing is drawn on this picture"
call -- predict run/checkpoint.safetensors run/summary.json
expect_status 1; expect_one_line_error; expect_err "run/summary.json"
call -- predict digit1.png digit1.png
expect_status 1; expect_one_line_error; expect_err "digit1.png"
# Other kinds of files are called by their names.
printf '\010\007\022\007pytorch\032\0052.0.0' > net.onnx
printf '\034\000\000\000TFL3\024\000' > net.tflite
printf '<!DOCTYPE html><html></html>' > page.safetensors
printf 'GIF89a\001\000\001\000' > one.gif
call -- predict net.onnx digit1.png
expect_status 1; expect_one_line_error; expect_err "net.onnx: not a safetensors file, but an ONNX model (.onnx)"
call -- predict net.tflite digit1.png
expect_status 1; expect_one_line_error; expect_err "net.tflite: not a safetensors file, but a TensorFlow Lite model (.tflite)"
call -- predict page.safetensors digit1.png
expect_status 1; expect_one_line_error; expect_err "page.safetensors: not a safetensors file, but a web page (HTML)"
call -- predict run/checkpoint.safetensors one.gif
expect_status 1; expect_one_line_error; expect_err "one.gif: not a PNG or JPEG picture, but a GIF picture"
call -- train linear --gpus 0 --quiet --out line
call -- predict line/checkpoint.safetensors digit1.png
expect_status 1; expect_one_line_error; expect_err "this network is of 'linear'"

# Files made to hurt: nested deep, and settings that are of another kind or too large.
python3 - << 'PYTHON'
import json, struct
def write(path, header):
    with open(path, "wb") as f: f.write(struct.pack("<Q", len(header)) + header.encode())
deep = "[" * 100000 + "]" * 100000
write("deep.safetensors", '{"a":{"dtype":"F32","shape":' + deep + ',"data_offsets":[0,0]}}')
for name, note in {"nested": '{"name":"digits","net":' + deep + "}", "name": '{"name":3}', "real": '{"name":"digits","epochs":1e300}',
                   "large": '{"name":"digits","epochs":4294967297}', "none": deep}.items():
    write(f"{name}.safetensors", json.dumps({"__metadata__": {"recipe": note}}))
PYTHON
call -- predict deep.safetensors digit1.png
expect_status 1; expect_one_line_error; expect_err "deep.safetensors: tensor 'a' in the header has a size that is not a whole number"
for bad in name real large none; do
  call -- predict $bad.safetensors digit1.png
  expect_status 1; expect_one_line_error; expect_err "$bad.safetensors: the settings in this file are damaged"
done
call -- predict nested.safetensors digit1.png
expect_status 1; expect_one_line_error; expect_err "nested.safetensors"
finish
