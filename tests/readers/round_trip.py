"""Three networks from PyTorch to tandem and back, by every kind of file: round_trip.py TANDEM TEST_EXPORTED [DEVICE].

Each is made by PyTorch and written as .pt (a state_dict), safetensors, ONNX and .pt2. tandem reads each, runs the network, and its outputs are
compared with PyTorch's; then it writes .pt, safetensors and ONNX, which PyTorch and onnxruntime read. Needs torch, safetensors, onnx, onnxscript
and onnxruntime beside tandem. Exits with 1 where an output is off by more than 1e-5 of the largest element."""

import contextlib
import io
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnxruntime
import torch
from three_networks import make
from safetensors.torch import load_file, save_file

import tandem
import tandem.onnx

program, test_exported = sys.argv[1:3]
device = sys.argv[3] if len(sys.argv) > 3 else "cpu"
failed = 0
logging.disable(logging.WARNING)  # the exporter's


def check(name, way, got, wanted):
    """One line of the table."""
    global failed
    got, wanted = np.asarray(got, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    off = np.abs(got - wanted).max() / np.abs(wanted).max() if got.shape == wanted.shape else np.inf
    failed += not off <= 1e-5
    print(f"{name:12} {way:40} {off:9.2g}  {'' if off <= 1e-5 else 'FAILED'}", flush=True)


def call(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


def tandem_output(module, inputs):
    with tandem.no_grad():
        return module(*(tandem.tensor(x.numpy(), device=device) for x in inputs)).cpu().numpy()


def onnx_output(path, inputs):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {given.name: x.numpy() for given, x in zip(session.get_inputs(), inputs)})[0]


def read_all(name, network, inputs, wanted, folder):
    """What tandem makes of PyTorch's files; gives its module with the weights of them."""
    torch.save(network.state_dict(), folder / "model.pt")
    save_file(network.state_dict(), folder / "model.safetensors")
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, inputs, str(folder / "model.onnx"), dynamo=True, external_data=False, verbose=False)
    exported = folder / "exported"
    exported.mkdir()
    torch.export.save(torch.export.export(network, inputs), str(exported / f"{name}.pt2"))
    save_file({**{f"input{i}": x for i, x in enumerate(inputs)}, "output0": wanted.contiguous()}, exported / f"{name}.safetensors")

    module = make(tandem)[name][0].eval().to(device)
    module.load_state_dict(tandem.load(folder / "model.pt", map_location=device))
    check(name, "PyTorch .pt -> tandem", tandem_output(module, inputs), wanted)
    call(program, "convert", folder / "model.safetensors", folder / "converted.pt")
    other = make(tandem)[name][0].eval().to(device)
    other.load_state_dict(tandem.load(folder / "converted.pt", map_location=device))
    check(name, "PyTorch safetensors -> tandem", tandem_output(other, inputs), wanted)
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    np.savez(folder / "inputs.npz", **{given.name: x.numpy() for given, x in zip(session.get_inputs(), inputs)})
    call(program, "onnx", "run", folder / "model.onnx", folder / "inputs.npz", "--device", device, "--output", folder / "outputs.npz")
    outputs = np.load(folder / "outputs.npz")
    check(name, "PyTorch ONNX -> tandem", outputs[outputs.files[0]], wanted)
    call(test_exported, "--gtest_filter=ExportedFolder.*", TANDEM_EXPORTED_FOLDER=str(exported), TANDEM_EXPORTED_DEVICE=device)
    print(f"{name:12} {'PyTorch .pt2 -> tandem':40}    <1e-05  by {os.path.basename(test_exported)}")
    return module


def write_all(name, network, module, inputs, wanted, folder):
    """What PyTorch and onnxruntime make of tandem's files. The weights in `network` are others before."""
    state = {key: torch.zeros_like(value) for key, value in network.state_dict().items()}
    ways = {
        "tandem .pt -> PyTorch": lambda: tandem.save(module.state_dict(), folder / "back.pt") or torch.load(folder / "back.pt", weights_only=True, map_location="cpu"),
        "tandem safetensors -> PyTorch": lambda: call(program, "convert", folder / "back.pt", folder / "back.safetensors") and load_file(folder / "back.safetensors"),
    }
    for way, read in ways.items():
        network.load_state_dict(state)
        network.load_state_dict(read())
        with torch.no_grad():
            check(name, way, network(*inputs), wanted)
    tandem.onnx.export(module, tuple(tandem.tensor(x.numpy(), device=device) for x in inputs), str(folder / "back.onnx"))
    check(name, "tandem ONNX -> onnxruntime", onnx_output(str(folder / "back.onnx"), inputs), wanted)


def main():
    for name, (network, inputs) in make(torch).items():
        with torch.no_grad():
            for _ in range(10 if name == "resnet18" else 0):
                network.train()(*inputs)  # running averages that fit
            network.eval()
            wanted = network(*inputs)
        with tempfile.TemporaryDirectory() as folder:
            module = read_all(name, network, inputs, wanted, pathlib.Path(folder))
            write_all(name, network, module, inputs, wanted, pathlib.Path(folder))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
