#!/usr/bin/env python3
"""Writes gguf_blocks.gguf and gguf_blocks.npz beside it: blocks of each quantized type by llama.cpp's package `gguf` from PyPI, and the
numbers that it decodes them to. Exits with 77 where the package is missing."""

import pathlib
import sys

try:
    import gguf
    import numpy
except ImportError:
    print("gguf or numpy is missing: pip install gguf")
    sys.exit(77)

TYPES = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4"]
# Where 16-bit scales stand in a block; what else it has may be any bytes.
SCALES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2],
          "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0], "MXFP4": []}
folder = pathlib.Path(__file__).parent
random = numpy.random.default_rng(7)

writer = gguf.GGUFWriter(folder / "gguf_blocks.gguf", "tests")
writer.add_string("tests.text", "größe")
writer.add_uint8("tests.u8", 200)
writer.add_int8("tests.i8", -3)
writer.add_uint64("tests.u64", 2**40)
writer.add_float32("tests.f32", 0.25)
writer.add_bool("tests.bool", True)
writer.add_array("tests.words", ["a", "", "ccc"])
writer.add_array("tests.numbers", [1, -2, 3])
writer.add_array("tests.reals", [0.5, -1.5])
expected = {}
for name in TYPES:
    kind = gguf.GGMLQuantizationType[name]
    block, width = gguf.GGML_QUANT_SIZES[kind]
    rows, blocks = 2, 1 if block > 32 else 3
    data = random.integers(0, 256, (rows, blocks, width), dtype=numpy.uint8)
    for at in SCALES[name]:
        scales = random.normal(0, 0.05, (rows, blocks)).astype("<f2")
        data[:, :, at:at + 2] = scales.view(numpy.uint8).reshape(rows, blocks, 2)
    if name == "MXFP4":
        data[:, :, 0] = [[0, 1, 2], [120, 127, 140]]
    data = data.reshape(rows, blocks * width)
    writer.add_tensor(name, data, raw_dtype=kind)
    expected[name] = gguf.quants.dequantize(data, kind)
plain = random.normal(size=(2, 3, 4))
for name, dtype in {"F32": "f4", "F16": "f2", "F64": "f8", "I8": "i1", "I16": "i2", "I32": "i4", "I64": "i8"}.items():
    expected[name] = (plain * 10).astype(dtype)
    writer.add_tensor(name, expected[name])
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
numpy.savez_compressed(folder / "gguf_blocks.npz", **expected)
