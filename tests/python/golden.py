"""PyTorch's answers, compared with tandem for Python: golden.py [--device cuda:0] [--known FILE] FOLDER…

Reads the golden cases that tests/golden's program reads, calls each operation by PyTorch's own name and keywords, and compares values, sizes, dtypes, gradients, and the
class of what is refused. Ends with counts; exit code 1 where more failed than FILE knows.
"""

import argparse
import collections
import json
import mmap
import pathlib
import sys

import tandem as torch

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8,
          "U8": torch.uint8, "BOOL": torch.bool}
SCALARS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def sampled(x, grid, mode, padding, align):
    """grid_sample by the numbers that PyTorch has for its modes."""
    return torch.nn.functional.grid_sample(x, grid, ("bilinear", "nearest", "bicubic")[mode], ("zeros", "border", "reflection")[padding], align)


# Operations whose arguments the cases have in an order of their own, and methods whose name a function of another kind has.
FORMS = {
    "einsum": lambda operands, equation: torch.einsum(equation, *operands),
    "unfold": lambda x, *args, **kwargs: x.unfold(*args, **kwargs),
    "where": lambda x, condition, other: torch.where(condition, x, other),
    "zero_": lambda x: x.clone().zero_(),
    "slice": None,  # no function that users call
    "__rdiv__": lambda x, other: other / x,
    "linalg.pinv": lambda a, *factor, **kwargs: torch.linalg.pinv(a @ factor[0].mT if factor else a, **kwargs),
    # PyTorch's samples give the weight first.
    "nn.functional.embedding": lambda weight, indices, **kwargs: torch.nn.functional.embedding(indices, weight, **kwargs),
    "nn.functional.embedding_bag": lambda weight, indices, **kwargs: torch.nn.functional.embedding_bag(indices, weight, **kwargs),
    "grid_sampler_2d": lambda x, grid, mode, padding, align: sampled(x, grid, mode, padding, align),
    "grid_sampler_3d": lambda x, grid, mode, padding, align: sampled(x, grid, mode, padding, align),
}


class NotHere(Exception):
    """An operation or argument that tandem does not have."""


def read_tensors(path):
    """The tensors of a file of safetensors, by name."""
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    found = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        dtype = DTYPES.get(entry["dtype"])
        if dtype is None:
            continue
        raw = bytearray(data[8 + size + begin:8 + size + end])
        flat = torch.frombuffer(raw, dtype=dtype) if raw else torch.empty(0, dtype=dtype)
        found[name] = flat.reshape(entry["shape"])
    return found


class Case:
    """The values of one case, on a device."""

    def __init__(self, tensors, device):
        self.tensors, self.device, self.inputs = tensors, device, {}

    def tensor(self, key):
        if key not in self.tensors:
            raise NotHere("a tensor of a dtype that tandem does not have")
        return self.tensors[key]

    def value(self, given, wants=()):
        if isinstance(given, list):
            return [self.value(v, wants) for v in given]
        if not isinstance(given, dict):
            return given
        if "tensor" in given:
            key = given["tensor"]
            flat = self.tensor(key).to(self.device)
            if "sizes" in given:
                flat = torch.as_strided(flat, given["sizes"], given["strides"], given["offset"])
                flat = flat.detach()
            if key in wants:
                if key not in self.inputs:
                    self.inputs[key] = flat.requires_grad_()
                return self.inputs[key]
            return flat
        if "scalar" in given:
            return SCALARS[given["scalar"]]
        if "dtype" in given:
            if not hasattr(torch, given["dtype"]):
                raise NotHere(f"dtype {given['dtype']}")
            return getattr(torch, given["dtype"])
        if "slice" in given:
            return slice(*given["slice"])
        if "ellipsis" in given:
            return Ellipsis
        if "device" in given:
            return torch.device(self.device)
        raise NotHere(f"a value of {given}")


def function_of(name):
    """What a user of PyTorch calls by that name."""
    if name in FORMS:
        if FORMS[name] is None:
            raise NotHere(name)
        return FORMS[name]
    if name.startswith(("F.", "nn.functional.")):
        found = getattr(torch.nn.functional, name.rsplit(".", 1)[1], None)
    elif name.startswith("linalg."):
        found = getattr(torch.linalg, name[7:], None)
    elif name.startswith("__"):
        found = getattr(torch.Tensor, name, None)
        if name == "__getitem__":
            return lambda x, index, *rest: x[tuple(index) if isinstance(index, list) else index]
    else:
        found = getattr(torch, name, None) or getattr(torch.Tensor, name, None) or getattr(torch.nn.functional, name, None)
    if found is None:
        raise NotHere(name)
    return found


def flat_results(result):
    """The tensors of a result, in order."""
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return [t for part in result for t in flat_results(part)]
    if isinstance(result, (bool, int, float)):
        return [torch.tensor(result)]
    return []


def difference(ours, theirs, rtol, atol, what):
    """Why two tensors are not alike; None where they are."""
    ours = ours.detach().cpu()
    if tuple(ours.shape) != tuple(theirs.shape):
        return f"{what}: size {tuple(ours.shape)}, not {tuple(theirs.shape)}"
    if ours.dtype is not theirs.dtype:
        return f"{what}: dtype {ours.dtype}, not {theirs.dtype}"
    if ours.numel() == 0:
        return None
    if not ours.is_floating_point():
        return None if torch.equal(ours, theirs) else f"{what}: other values"
    a, b = ours.double(), theirs.double()
    if torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True).all():
        return None
    gap = (a - b).abs()
    return f"{what}: differs by {gap[~gap.isnan()].max().item() if (~gap.isnan()).any() else 'nan'}"


def gradients_of(case, results, cotangents):
    """Runs backward of the results, each weighted by its cotangent."""
    total = None
    for result, key in zip(results, cotangents):
        if key is None or not result.requires_grad:
            continue
        part = (result * case.tensor(key).to(result.device)).sum()
        total = part if total is None else total + part
    if total is not None:
        total.backward()


def run_operation(name, data, tensors, device):
    case = Case(tensors, device)
    wants = {key for key, _ in data.get("gradients", [])}
    function = function_of(name)
    args, kwargs = case.value(data["args"], wants), {k: case.value(v, wants) for k, v in data.get("kwargs", {}).items()}
    if "error" in data:
        try:
            function(*args, **kwargs)
        except NotImplementedError as error:
            return None if data.get("error_class", "NotImplementedError") == "NotImplementedError" else NotHere(str(error))
        except Exception as error:  # noqa: BLE001  any class is compared below
            wanted = data.get("error_class")
            return f"refused with {type(error).__name__}, not {wanted}" if wanted and wanted != type(error).__name__ else None
        torch.cuda.synchronize() if device != "cpu" else None
        return f"was not refused: {data['error'][:80]}"
    results = flat_results(function(*args, **kwargs))
    if len(results) != len(data["results"]):
        return f"gave {len(results)} results, not {len(data['results'])}"
    for i, (ours, want) in enumerate(zip(results, data["results"])):
        theirs = Case(tensors, "cpu").value(want)
        if not isinstance(theirs, torch.Tensor):
            continue
        told = difference(ours, theirs, data["rtol"], data["atol"], f"result {i}")
        if told:
            return told
    if data.get("gradients"):
        gradients_of(case, results, data["cotangents"])
        for key, want in data["gradients"]:
            gradient = case.inputs[key].grad if key in case.inputs else None
            theirs = case.tensor(want)
            if gradient is None:
                if theirs.abs().sum().item() == 0:
                    continue
                return f"no gradient of {key}"
            told = difference(gradient, theirs, data["rtol"], data["atol"], f"gradient of {key}")
            if told:
                return told
    return None


def run_module(name, data, tensors, device):
    case = Case(tensors, device)
    cls = getattr(torch.nn, name, None)
    if cls is None:
        raise NotHere(name)
    construct = data["construct"]
    module = cls(*[tuple(v) if isinstance(v, list) else v for v in case.value(construct["args"])], **{k: case.value(v) for k, v in construct["kwargs"].items()}).to(device)
    state = {key: case.tensor(value).to(device) for key, value in data.get("state", {}).items()}
    if state:
        floating = next((v.dtype for v in state.values() if v.is_floating_point()), None)
        if floating is not None:
            module.to(floating)
    module.load_state_dict(state)
    module.train(data.get("training", True))
    wants = {key.split(" ", 1)[1] for key, _ in data.get("gradients", []) if key.startswith("input ")}
    args, kwargs = case.value(data["args"], wants), {k: case.value(v, wants) for k, v in data.get("kwargs", {}).items()}
    results = flat_results(module(*[tuple(a) if isinstance(a, list) else a for a in args], **kwargs))
    wanted = [Case(tensors, "cpu").value(w) if isinstance(w, dict) else None if w is None else case.tensor(w) for w in data["results"]]
    if len(results) != len([w for w in wanted if w is not None]):
        return f"gave {len(results)} results, not {len(wanted)}"
    for i, (ours, theirs) in enumerate(zip(results, [w for w in wanted if w is not None])):
        told = difference(ours, theirs, data["rtol"], data["atol"], f"result {i}")
        if told:
            return told
    if data.get("gradients"):
        gradients_of(case, results, data["cotangents"])
        parameters = dict(module.named_parameters())
        for key, want in data["gradients"]:
            kind, which = key.split(" ", 1)
            tensor = parameters[which] if kind == "parameter" else case.inputs.get(which)
            gradient = tensor.grad if tensor is not None else None
            if gradient is None:
                if case.tensor(want).abs().sum().item() == 0:
                    continue
                return f"no gradient of {key}"
            told = difference(gradient, case.tensor(want), data["rtol"], data["atol"], f"gradient of {key}")
            if told:
                return told
    for key, want in data.get("state_after", {}).items():
        told = difference(module.state_dict()[key], case.tensor(want), data["rtol"], data["atol"], f"{key} after")
        if told:
            return told
    return None


def run_optimizer(name, data, tensors, device):
    case = Case(tensors, device)
    cls = getattr(torch.optim, name, None)
    if cls is None:
        raise NotHere(name)
    parameters = [torch.nn.Parameter(case.tensor(key).to(device).clone()) for key in data["parameters"]]
    optimizer = cls(parameters, **{k: case.value(v) for k, v in data["kwargs"].items()})
    for step in data["gradients"]:
        for parameter, key in zip(parameters, step):
            parameter.grad = case.tensor(key).to(device).clone()
        optimizer.step(*([lambda: (parameters[0] * 0).sum()] if name == "LBFGS" else []))
    for i, (parameter, key) in enumerate(zip(parameters, data["results"])):
        told = difference(parameter, case.tensor(key), data["rtol"], data["atol"], f"parameter {i}")
        if told:
            return told
    return None


def run_file(path, device, counts, failures, skipped):
    text = json.loads(path.read_text())
    kind = next(k for k in ("op", "module", "optimizer") if k in text)
    run = {"op": run_operation, "module": run_module, "optimizer": run_optimizer}[kind]
    tensors = read_tensors(path.with_suffix(".safetensors")) if path.with_suffix(".safetensors").exists() else {}
    for number, data in enumerate(text["cases"]):
        place = f"{path.stem} {number}"
        try:
            told = run(text[kind], data, tensors, device)
        except NotHere as reason:
            counts["skipped"] += 1
            skipped[str(reason)] += 1
            continue
        except NotImplementedError as reason:
            counts["skipped"] += 1
            skipped[f"{path.stem}: {str(reason)[:100]}"] += 1
            continue
        except Exception as error:  # noqa: BLE001  what a case raises is its result
            told = f"{type(error).__name__}: {str(error)[:200]}"
        if told is None:
            counts["passed"] += 1
        elif isinstance(told, NotHere):
            counts["skipped"] += 1
            skipped[str(told)[:100]] += 1
        else:
            counts["failed"] += 1
            failures.append(f"{place}: {told}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--known", type=pathlib.Path, help="a list of cases that are known to fail, a line each")
    arguments = parser.parse_args()
    files = [f for path in arguments.paths for f in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    counts, failures, skipped = collections.Counter(), [], collections.Counter()
    known = set()
    if arguments.known and arguments.known.exists():
        known = {line.split("#")[0].strip() for line in arguments.known.read_text().splitlines() if line.split("#")[0].strip()}
    for path in files:
        run_file(path, arguments.device, counts, failures, skipped)
    fresh = [failure for failure in failures if failure.split(":")[0] not in known]
    for failure in failures:
        print(("known: " if failure not in fresh else "") + failure)
    for reason, count in sorted(skipped.items()):
        print(f"skipped {count}: {reason}")
    print(f"{counts['passed']} passed, {counts['failed']} failed ({len(failures) - len(fresh)} known), {counts['skipped']} skipped")
    sys.exit(1 if fresh or not counts["passed"] else 0)


if __name__ == "__main__":
    main()
