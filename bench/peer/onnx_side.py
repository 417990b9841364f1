"""onnxruntime's side of `./dev bench onnx`: writes the inputs and outputs that both sides work on, or measures itself on them."""

import argparse
import json
import pathlib
import sys

import numpy as np
import onnxruntime

import work_side


def session_of(model, threads):
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])


def sizes_of(node, given):
    """The sizes of an input: the file's, and for what it leaves open those that were given, else 1."""
    known = [size if isinstance(size, int) and size > 0 else None for size in node.shape]
    wanted = given.get(node.name, [1] * len(known))
    if len(wanted) != len(known) and None in known:
        sys.exit(f"onnx_side: --sizes gives {node.name} {len(wanted)} sizes, and it has {len(known)}")
    return [size or wanted[place] for place, size in enumerate(known)]


def values_of(node, sizes, rng):
    kinds = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_}
    if node.type not in kinds:
        sys.exit(f"onnx_side: input {node.name} is of {node.type}, for which there are no values here")
    kind = kinds[node.type]
    return rng.standard_normal(sizes).astype(kind) if np.issubdtype(kind, np.floating) else np.ones(sizes, kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", metavar="MODEL", help="ONNX files")
    parser.add_argument("--data", type=pathlib.Path, required=True, metavar="FOLDER", help="where 0.npz and so on are, inputs and outputs of each model")
    parser.add_argument("--write", action="store_true", help="write these files, and measure nothing")
    parser.add_argument("--sizes", action="append", default=[], metavar="INPUT=N,N", help="sizes of an input that the file leaves open (1 otherwise)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads (default 1)")
    parser.add_argument("--ms", type=float, default=1000, metavar="MS", help="about how long each is measured (default 1000)")
    options = parser.parse_args()
    given = {name: [int(size) for size in sizes.split(",")] for name, _, sizes in (text.partition("=") for text in options.sizes)}
    rng = np.random.default_rng(0)
    results = []
    for number, model in enumerate(options.models):
        session, path = session_of(model, options.threads), options.data / f"{number}.npz"
        if options.write:
            feed = {node.name: values_of(node, sizes_of(node, given), rng) for node in session.get_inputs()}
            np.savez(path, **feed, **dict(zip((node.name for node in session.get_outputs()), session.run(None, feed))))
            continue
        with np.load(path) as arrays:
            feed = {node.name: arrays[node.name] for node in session.get_inputs()}
        results.append(work_side.measure(model, options.ms, lambda: session.run(None, feed)))
    print(json.dumps({"library": f"onnxruntime {onnxruntime.__version__}", "results": results}))


if __name__ == "__main__":
    main()
