"""Other people's ONNX graphs run by tandem and by onnxruntime: onnx_graphs.py TANDEM FOLDER [DEVICE].

Every .onnx file under FOLDER gets random inputs of the sizes that it declares; a size that is open is one that such networks take. Outputs are
compared: 1e-4 of the largest element, 1e-2 where a graph computes in 16 bits, and 1e-6 for what is small throughout (onnxruntime's sigmoid gives
0 there). Graphs with operators for integers in place of floating numbers are left out by name. Prints a line for each; exits with 1 where one is
off."""

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
device = sys.argv[3] if len(sys.argv) > 3 else "cpu"
onnxruntime.set_default_logger_severity(4)
TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(int32)": np.int32,
         "tensor(bool)": np.bool_, "tensor(uint8)": np.uint8}


def sizes(given, choice):
    """The declared sizes; of those that are open the first is 1, a picture is 3 x 64 x 160 or as `choice` says, anything else `choice`."""
    declared = [size if isinstance(size, int) and size > 0 else None for size in given.shape]
    if len(declared) == 4:
        usual = [1, 3, choice[0], choice[1]] if declared[3] != 3 else [1, choice[0], choice[1], 3]
    else:
        usual = [1] + [choice[0]] * (len(declared) - 1) if given.name != "state" else [2, 1, 128]
    return [usual[i] if size is None else size for i, size in enumerate(declared)]


def array(given, choice, draws):
    shape, kind = sizes(given, choice), TYPES[given.type]
    if given.name == "sr":
        return np.full(shape, 16000, kind)
    if np.issubdtype(kind, np.floating):
        return draws.random(shape).astype(kind)
    return draws.integers(0, 2 if kind is np.bool_ else 100, shape).astype(kind)


def compare(path):
    """What the line says of a graph, and whether it holds."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    half = any(tensor.data_type in (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16) for tensor in onnx.load(str(path), load_external_data=False).graph.initializer)
    problem = ""
    for choice in ((64, 160), (48, 320), (512, 512), (32, 32), (256, 256), (1, 1)):
        draws = np.random.default_rng(0)
        inputs = {given.name: array(given, choice, draws) for given in session.get_inputs()}
        try:
            wanted = session.run(None, inputs)
            break
        except Exception as error:
            problem = str(error).splitlines()[0]
    else:
        return f"onnxruntime takes no input that was tried: {problem[:120]}", True
    with tempfile.TemporaryDirectory() as made:
        np.savez(f"{made}/inputs.npz", **inputs)
        done = subprocess.run([program, "onnx", "run", path, f"{made}/inputs.npz", "--device", device, "--output", f"{made}/outputs.npz"], capture_output=True, text=True)
        if "Quantize" in done.stderr:
            return "left out, " + done.stderr.rpartition(": ")[2].strip(), True
        if done.returncode:
            return (done.stderr or done.stdout).strip()[:300], False
        found = dict(np.load(f"{made}/outputs.npz"))
    line, held = "", True
    for given, value in zip(session.get_outputs(), wanted):
        other = found.get(given.name)
        if other is None or other.shape != np.shape(value):
            return f"output {given.name}: {None if other is None else other.shape}, not {np.shape(value)}", False
        value = np.asarray(value, np.float64)
        if value.size:
            off, largest = np.abs(other.astype(np.float64) - value).max(), np.abs(value).max()
            held &= bool(off <= 1e-6 + (1e-2 if half else 1e-4) * largest)
            line += f"{off:.1e} of {largest:.1e}, "
    inputs_text = ", ".join("x".join(map(str, x.shape)) or "one" for x in inputs.values())
    return f"{line}inputs {inputs_text}", held


def main():
    seen, failed, count = set(), 0, 0
    for path in sorted(folder.rglob("*.onnx")):
        digest = hashlib.sha256(path.read_bytes()).digest()
        if digest in seen:
            continue
        seen.add(digest)
        text, held = compare(path)
        count += 1
        failed += not held
        print(f"{'' if held else 'FAILED '}{os.path.relpath(path, folder)}: {text}", flush=True)
    print(f"{count} graphs, {failed} failed")
    return failed > 0 or count == 0


if __name__ == "__main__":
    sys.exit(main())
