"""A worker: evaluates expressions in one interpreter, and writes what each gives, a line of JSON each.

evaluate.py MODULE EXPRESSIONS RESULTS FIRST    MODULE is torch or tandem, FIRST the number of the expression to begin with
"""

import importlib
import json
import math
import os
import re
import sys
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from inputs import is_input, make  # noqa: E402

MOST_VALUES = 400
# Expressions whose result has elements that nothing has set, or random ones that tandem draws otherwise: their values are not compared.
UNSET = re.compile(r"empty|resize_|Tensor\(\d|\.new\(\d|normal\(|set_\(")


# Expressions that change settings or draw random numbers.
SETTINGS = re.compile(
    r"set_(default|grad|print)|manual_seed|rand|normal|bernoulli|multinomial|dropout|poisson|rrelu|gumbel|uniform|exponential"
    r"|geometric|cauchy|fractional"
)


class At:
    """at[1:, 0] is what stands between the brackets."""

    def __getitem__(self, index):
        return index


def assigned(tensor, index, value):
    """The tensor after tensor[index] = value."""
    tensor[index] = value
    return tensor


def load(module):
    """The module under its name `torch`."""
    if module == "torch":
        return importlib.import_module("torch")
    os.environ["TANDEM_QUIET"] = "1"
    importlib.import_module("tandem.torch_compat")
    return importlib.import_module("torch")


def number(value):
    """A number as text that keeps its sign and its kind."""
    return repr(value)


def address(tensor):
    """Where a tensor's storage begins; 0 where it has none."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):  # PyTorch's sparse tensors, and those on the device meta
        return 0


class Describer:
    """What a result is, without addresses and without anything that belongs to one interpreter."""

    def __init__(self, torch, with_values, inputs):
        self.torch, self.with_values = torch, with_values
        self.inputs = inputs  # by name

    def memory(self, value):
        """Whose memory a tensor has: the names of the inputs that it is or shares with, or "own"; None where that cannot be told."""
        place = address(value)
        names = [name for name, made in self.inputs.items() if made is not value and place and place == address(made)]
        itself = [f"{name} itself" for name, made in self.inputs.items() if made is value]
        return ", ".join(itself + names) or ("own" if place else None)

    def tensor(self, value):
        told = {"is": "tensor", "class": type(value).__name__, "shape": [int(n) for n in value.shape]}
        told["dtype"] = str(value.dtype).replace("tandem.", "torch.")
        try:
            told["stride"] = [int(n) for n in value.stride()]
        except Exception as error:  # sparse ones have none
            told["stride"] = type(error).__name__
        told["requires_grad"] = value.requires_grad
        told["memory"] = self.memory(value)
        told["grad_fn"] = None if value.grad_fn is None else value.grad_fn.name().rsplit("::", 1)[-1]
        if self.with_values:
            listed = value.detach().reshape(-1)[:MOST_VALUES].tolist()
            told["values"] = [number(v) for v in listed]
        return told

    def __call__(self, value, depth=0):
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if value is None or isinstance(value, (bool, int, str, bytes)) and not hasattr(value, "dtype"):
            return {"is": type(value).__name__, "value": repr(value).replace("tandem.", "torch.")}
        if isinstance(value, float):
            return {"is": "float", "value": number(float(value))}
        if isinstance(value, torch.Size):
            return {"is": "Size", "value": repr(value)}
        if isinstance(value, (tuple, list)) and depth < 4:
            name = type(value).__name__ if type(value) in (tuple, list) else "named " + type(value).__name__.rsplit(".", 1)[-1]
            return {"is": name, "items": [self(v, depth + 1) for v in value]}
        if isinstance(value, dict) and depth < 4:
            return {"is": "dict", "items": [[repr(k), self(v, depth + 1)] for k, v in value.items()]}
        if type(value).__module__ == "numpy":
            return {"is": "numpy", "value": f"{getattr(value, 'dtype', '')} {getattr(value, 'shape', '')} {value!r}"[:300]}
        text = repr(value).replace("tandem.", "torch.")
        return {"is": type(value).__name__, "value": "" if " at 0x" in text or "built-in" in text else text[:300]}


def names_in(code):
    """The global names that a code object and those in it use."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found |= names_in(constant)
    return found


def reset(torch):
    """What an expression may have changed."""
    torch.manual_seed(0)
    if torch.get_default_dtype() is not torch.float32:
        torch.set_default_dtype(torch.float32)
    if not torch.is_grad_enabled():
        torch.set_grad_enabled(True)


def evaluate(torch, spaces, expression):
    """The description of what the expression gives or raises."""
    try:
        code = compile(expression, "expression", "eval")
    except SyntaxError as error:
        return {"raises": "SyntaxError", "text": f"the table is wrong: {error}"}
    try:
        inputs = {name: make(torch, name) for name in sorted(names_in(code)) if is_input(name)}
        value = eval(code, spaces | inputs)
        return Describer(torch, UNSET.search(expression) is None, inputs)(value)
    except RecursionError:
        raise
    except Exception as error:
        return {"raises": type(error).__name__, "text": str(error).replace("tandem.", "torch.")[:400]}


def main():
    module, expressions, results, first = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    with open(expressions) as file:
        lines = json.load(file)
    warnings.simplefilter("ignore")
    torch = load(module)
    torch.set_num_threads(1)
    spaces = {
        "torch": torch,
        "F": importlib.import_module("torch.nn.functional"),
        "nn": torch.nn,
        "math": math,
        "at": At(),
        "assigned": assigned,
        "inf": math.inf,
        "nan": math.nan,
    }
    try:
        spaces["numpy"] = importlib.import_module("numpy")
    except ImportError:
        pass
    reset(torch)
    with open(results, "ab", buffering=0) as out:
        for expression in lines[first:]:
            told = evaluate(torch, spaces, expression)
            out.write(json.dumps(told).encode() + b"\n")
            if SETTINGS.search(expression):
                reset(torch)
                torch.set_printoptions(profile="default")


if __name__ == "__main__":
    main()
