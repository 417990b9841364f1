"""Asks PyTorch for the dtypes that operations give under autocast, for the golden cases: autocast.py FOLDER OUT.json.

FOLDER holds the cases (tests/golden/cases.tar.xz, unpacked). Each call is made three times: with its float32 tensors as they are, with all
of them in the lower precision, and with the first of them only. The answers are those of autocast on the CPU, in bfloat16, and on CUDA, in
float16, for which no GPU is needed: PyTorch's fake tensors have devices and dtypes, and no values.

In the file a call's answer is a letter for each result, "!" where autocast refuses the operation, and "?" where PyTorch says nothing.
"""
import json
import operator
import pathlib
import sys
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

LETTERS = {torch.float32: "f", torch.bfloat16: "l", torch.float16: "l", torch.float64: "d", torch.int64: "i", torch.int32: "i",
           torch.bool: "b", torch.uint8: "i", torch.int8: "i", torch.int16: "i"}
SPECIAL = {"__getitem__": operator.getitem, "__rsub__": torch.rsub, "slice": torch.ops.aten.slice}
# Not asked for: (device, operation).
LEFT_OUT = {
    ("cpu", "linalg.pinv"): "computed in float32 to the end here, while PyTorch rounds the last product",
    ("cuda", "linalg.cross"): "of mixed dtypes PyTorch's kernel, unlike a fake tensor, makes an error",
    ("cuda", "grid_sampler_3d"): "the same",
}
STORED = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64, "I32": torch.int32, "BOOL": torch.bool, "U8": torch.uint8,
          "I8": torch.int8, "I16": torch.int16, "F16": torch.float16, "BF16": torch.bfloat16}


def read_tensors(path):
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    tensors = {}
    for key, about in json.loads(data[8:8 + length]).items():
        if key == "__metadata__":
            continue
        begin, end = about["data_offsets"]
        raw = bytearray(data[8 + length + begin:8 + length + end])
        dtype = STORED[about["dtype"]]
        tensors[key] = torch.frombuffer(raw, dtype=dtype).reshape(about["shape"]) if raw else torch.empty(about["shape"], dtype=dtype)
    return tensors


class Arguments:
    """A case's arguments for one call: each tensor on `device`, float32 ones in `lower` where the variant wants it."""

    def __init__(self, stored, device, lower, variant):
        self.stored, self.device, self.lower, self.variant = stored, device, lower, variant
        self.made = {}

    def tensor(self, value):
        key = value["tensor"]
        if key not in self.made:
            x = self.stored[key]
            if "sizes" in value:
                x = x.as_strided(value["sizes"], value["strides"], value["offset"])
            if x.dtype == torch.float32:
                first = not any(t.dtype in (torch.float32, self.lower) for t in self.made.values())
                if self.variant == "lower" or (self.variant == "first" and first):
                    x = x.to(self.lower)
            self.made[key] = torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device="cuda") if self.device == "cuda" else x
        return self.made[key]

    def value(self, v):
        if isinstance(v, list):
            return [self.value(e) for e in v]
        if not isinstance(v, dict):
            return v
        if "tensor" in v:
            return self.tensor(v)
        if "scalar" in v:
            return float(v["scalar"])
        if "dtype" in v and len(v) == 1:
            return getattr(torch, v["dtype"])
        if "slice" in v:
            return slice(*v["slice"])
        if "ellipsis" in v:
            return ...
        return {k: self.value(v[k]) for k in sorted(v)}


def function_of(op):
    if op in SPECIAL:
        return SPECIAL[op]
    found = torch
    for part in op.split("."):
        found = getattr(found, part, None)
    return found if found is not None else getattr(torch.Tensor, op, None)


def letters(result):
    if isinstance(result, torch.Tensor):
        return LETTERS.get(result.dtype, "?")
    return "".join(letters(r) for r in result) if isinstance(result, (tuple, list)) else "?"


def ask(function, case, stored, device, variant):
    lower = torch.bfloat16 if device == "cpu" else torch.float16
    arguments = Arguments(stored, device, lower, variant)
    try:
        args = arguments.value(case["args"])
        kwargs = arguments.value(case["kwargs"])
        if "device" in kwargs:
            kwargs["device"] = device
        if function is operator.getitem and isinstance(args[1], list):
            args[1] = tuple(args[1])
        return letters(function(*args, **kwargs))
    except Exception as error:
        return "!" if "unsafe to autocast" in str(error) else "?"


def answers(path, device):
    file = json.loads(path.read_text())
    function = function_of(file.get("op", ""))
    if "op" not in file or function is None or (device, file["op"]) in LEFT_OUT:
        return None
    stored = read_tensors(path.with_suffix(".safetensors"))
    return [["?" if "error" in case else ask(function, case, stored, device, variant) for variant in ("float", "lower", "first")]
            for case in file["cases"]]


def main():
    folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    warnings.simplefilter("ignore")
    result = {"torch": torch.__version__}
    for device in ("cpu", "cuda"):
        torch.set_autocast_enabled(device, True)
        known = {}
        for path in sorted(folder.glob("*.json")):
            if device == "cuda":
                with FakeTensorMode(allow_non_fake_inputs=True):
                    given = answers(path, device)
            else:
                given = answers(path, device)
            if given and any(letter != "?" for case in given for letter in case):
                known[json.loads(path.read_text())["op"]] = given
        torch.set_autocast_enabled(device, False)
        torch.clear_autocast_cache()
        result[device] = known
    lines = []
    for device in ("cpu", "cuda"):
        rows = ",\n".join(f'  {json.dumps(op)}: {json.dumps([" ".join(case) for case in cases])}' for op, cases in result[device].items())
        lines.append(f'"{device}": {{\n{rows}\n}}')
    pathlib.Path(out).write_text(f'{{"torch": "{result["torch"]}",\n' + ",\n".join(lines) + "}\n")


main()
