#!/usr/bin/env python3
"""What of PyTorch's Python names tandem has: coverage.py writes docs/python-coverage.md

It asks the running module for each name in torch_names.txt, so PYTHONPATH must find tandem. --check exits with 1 where the page is stale.
--list-torch, run by a Python that has PyTorch, writes torch_names.txt.
"""

import argparse
import importlib
import pathlib
import re
import sys
import tomllib

FOLDER = pathlib.Path(__file__).parent
PAGE = FOLDER.parents[1] / "docs" / "python-coverage.md"
LIST = FOLDER / "torch_names.txt"
NOTES = FOLDER / "differences.toml"

# The modules of PyTorch's that are compared, and the classes whose members are.
MODULES = [
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.parameter",
    "torch.nn.parallel",
    "torch.nn.utils",
    "torch.nn.utils.rnn",
    "torch.nn.utils.parametrizations",
    "torch.nn.utils.parametrize",
    "torch.nn.utils.prune",
    "torch.nn.utils.stateless",
    "torch.nn.attention",
    "torch.nn.attention.bias",
    "torch.nn.attention.flex_attention",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.optim.swa_utils",
    "torch.utils.data",
    "torch.utils.data.distributed",
    "torch.utils.benchmark",
    "torch.utils.checkpoint",
    "torch.utils.flop_counter",
    "torch.autograd",
    "torch.autograd.function",
    "torch.autograd.functional",
    "torch.autograd.graph",
    "torch.autograd.forward_ad",
    "torch.func",
    "torch.fx",
    "torch.library",
    "torch.cuda",
    "torch.linalg",
    "torch.special",
    "torch.signal.windows",
    "torch.quasirandom",
    "torch.distributed",
    "torch.distributed.checkpoint",
    "torch.distributed.checkpoint.state_dict",
    "torch.distributed.fsdp",
    "torch.distributed.optim",
    "torch.distributed.pipelining",
    "torch.distributed.tensor",
    "torch.distributed.tensor.parallel",
    "torch.amp",
    "torch.profiler",
    "torch.random",
    "torch.multiprocessing",
    "torch.testing",
    "torch.accelerator",
    "torch.distributions",
]
CLASSES = ["torch.Tensor", "torch.nn.Module", "torch.optim.Optimizer"]

# Names that are no part of the comparison: what PyTorch keeps for itself, and kinds of tensors that tandem does not have.
INTERNAL = re.compile(
    r"""
    cudnn|mkldnn|miopen|fbgemm|nnapi|xnnpack|_?jit_|onnx|quantiz|qint|quint|QInt|QUInt|q_per_|q_scale|q_zero|qscheme|
    int_repr|fake_quant|fused_moving|[Ss]parse|sspaddmm|smm$|hspmm|ccol_|crow_|col_indices|row_indices|coalesce|
    dense_dim|Storage|storage_type|(?<!index)(?<!narrow)_copy$|_stub$|^hash_tensor|
    batch_norm_(backward|elemt|gather|stats|update)|native_|convolution_|(?<!is_)complex|cfloat|cdouble|chalf|
    conj_physical|^sym_|^scaled_(addmm|grouped|mm)|grouped_mm|float4|^u?int[1-7]$|^bits\d|^bit$|_conv_depth|
    affine_grid_generator|grid_sampler|is_(vulkan|xpu|xla|hpu|ipu|mtia|maia|mps)|^(ipu|mtia|xpu|hpu)$|names$|
    refine_names|align_(as|to)|rename|_coo$|^vitals|^nvml|jiterator|gds|tunable|[Gg]reen|DataPipe|datapipe|
    torch_function|boolean_dispatch|init_num_threads|^has_(lapack|mkl|openmp|spectral|half|magma)|_(impl|impls)$|
    volatile|const_data_ptr|padded_tensor|module_load|call_super_init|dump_patches|T_destination|^(indices|values)$|
    ^name$|DataChunk|runtime_validation|^non_deterministic|guaranteed_determ|cudaStatus|CudaError|^cudart|
    current_(blas|solver)|NCCL2|NCCLLazy|ucc|xccl|SAC_|GraphExecGroup|PerformanceMetrics|ProfilerActivityConfig|Cuspy|
    FileCheck|Nested|^nested|TypedDict|import_ir|parse_(ir|schema|type_comment)|unify_type|merge_type|compiled_with|
    ^slice_inverse$|jagged|ScalingType|SwizzleType|assert_int_or_pair|UninitializedTensorMixin|FunctionMeta|
    BackwardCFunction|^factory_kwargs$|get_device_module|thread_safe_generator|legacy_contiguous|DefaultDeviceType|
    \w+Options$|^BackendConfig$|BuiltinCommHook|^GroupName$|^Logger$|record_comm|backend_config|backend_impl|
    pg_count|backend_for_device|stale_capture|grad_stream_mismatch|region_activation|grad_layout_policy
    """,
    re.VERBOSE,
)
REMOVED = {"torch.eig", "torch.lstsq", "torch.qr", "torch.solve", "torch.symeig"}  # they only tell what to use instead
OTHERS = {"torch.polar", "torch.nn.functional.Tensor"}
KEPT = {"torch.nn.init.sparse", "torch.nn.init.sparse_"}  # of dense tensors
CLASSES_OF_TORCH = re.compile(r"Size|Tensor|Generator|Stream|Event|OutOfMemoryError|AcceleratorError|GradScaler|\w+Tensor")


def documented(value):
    """Whether PyTorch says something of it: what it leaves without a word is for its own use."""
    return bool(getattr(value, "__doc__", None))


def is_public(path, name, value, listed):
    """Whether a name of a module or class of PyTorch's is for those who write programs."""
    import torch

    full_name = f"{path}.{name}"
    if (
        name.startswith("_")
        or isinstance(value, type(sys))
        or full_name in REMOVED | OTHERS
        or (INTERNAL.search(name) and full_name not in KEPT)
    ):
        return False
    if path in CLASSES:
        return not callable(value) or documented(value)
    if path == "torch" and name[0].isupper() and not CLASSES_OF_TORCH.fullmatch(name):
        return False
    if not callable(value):
        return listed or (path == "torch" and isinstance(value, (torch.dtype, torch.layout, torch.memory_format)))
    if not (getattr(value, "__module__", None) or "torch").startswith("torch"):
        return path == "torch.multiprocessing"
    return isinstance(value, type) or documented(value) or hasattr(torch.nn.functional, name) or hasattr(torch.Tensor, name)


def names_of(path):
    """The public names of a module or class of PyTorch's."""
    if path in CLASSES:
        owner, _, name = path.rpartition(".")
        place, listed = getattr(importlib.import_module(owner), name), None
    else:
        place = importlib.import_module(path)
        listed = getattr(place, "__all__", None)
    names = set(dir(place)) if listed is None or path == "torch" else set(listed)
    return sorted(name for name in names if is_public(path, name, getattr(place, name, None), listed is not None and name in listed))


def list_torch():
    import warnings

    warnings.simplefilter("ignore")
    import torch

    lines = [f"# Public names of PyTorch {torch.__version__.partition('+')[0]}, written by coverage.py --list-torch."]
    for path in MODULES + CLASSES:
        lines += [f"{path}.{name}" for name in names_of(path)]
    LIST.write_text("\n".join(lines) + "\n")


def place_of(path):
    """The module or class of tandem's in this place; None where there is none."""
    ours = path.replace("torch", "tandem", 1)
    try:
        if path not in CLASSES:
            return importlib.import_module(ours)
        owner, _, name = ours.rpartition(".")
        return getattr(importlib.import_module(owner), name)
    except ImportError:
        return None


def has(place, name):
    try:
        return hasattr(place, name)
    except NotImplementedError:  # a part that says of each of its names that it is not there
        return False


def counted():
    """For each part: how many names PyTorch has, and which of them are missing."""
    names = {}
    for line in LIST.read_text().splitlines():
        if not line.startswith("#"):
            path, _, name = line.rpartition(".")
            names.setdefault(path, []).append(name)
    return {path: (len(of), [name for name in of if not has(place_of(path), name)]) for path, of in names.items()}


def page():
    """The text of docs/python-coverage.md."""
    parts = counted()
    total, missing = sum(count for count, _ in parts.values()), sum(len(names) for _, names in parts.values())
    version = re.search(r"PyTorch ([\d.]+)", LIST.read_text())[1]
    lines = [
        "# What of PyTorch's Python names tandem has",
        "",
        "<!-- Written by python/generate/coverage.py from torch_names.txt and differences.toml. -->",
        "",
        f"`import tandem as torch` finds {total - missing:,} of the {total:,} public names of PyTorch {version} that are compared here.",
        "Left out are names that PyTorch keeps for itself, and those of complex, sparse, quantized and nested tensors, of TorchScript",
        "and of ONNX, which tandem does not have: `coverage.py` has their patterns.",
        "",
        "| part | there | of |",
        "|---|---:|---:|",
    ]
    lines += [f"| `{path}` | {count - len(names)} | {count} |" for path, (count, names) in parts.items()]
    lines += ["", "## Missing", "", "Asking for one of these is an `AttributeError`, of a module an `ImportError`.", ""]
    lines += [f"- `{path}`: {', '.join(f'`{name}`' for name in names)}" for path, (_, names) in parts.items() if names]
    lines += [
        "",
        "## Accepted, but different",
        "",
        "These take what PyTorch takes and do something else, or nothing.",
        "",
        "| name | what tandem does |",
        "|---|---|",
    ]
    lines += [f"| {row['name']} | {row['does']} |" for row in tomllib.loads(NOTES.read_text())["different"]]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list-torch", action="store_true", help="write torch_names.txt, with PyTorch's own Python")
    parser.add_argument("--check", action="store_true", help="exit with 1 where the page is stale")
    arguments = parser.parse_args()
    if arguments.list_torch:
        list_torch()
    elif not arguments.check:
        PAGE.write_text(page())
    elif not PAGE.exists() or PAGE.read_text() != page():
        sys.exit(f"{PAGE} is stale: run python/generate/coverage.py")


if __name__ == "__main__":
    main()
