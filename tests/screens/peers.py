"""What other viewers show of the same: a picture of TensorBoard's page, or of Perfetto's, without a network. PyTorch's viewer of memory loads its script from one."""

import base64
import contextlib
import socket
import subprocess
import sys
import time

import chromium
import perfetto

SIZE = (1280, 900)


@contextlib.contextmanager
def tensorboard(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "tensorboard.main", "--logdir", folder, "--port", str(port), "--load_fast=false"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.kill()
        process.wait()


def take_tensorboard(folder, tab, path):
    with tensorboard(folder) as address, chromium.Page(SIZE) as page:
        page.open(f"{address}#{tab}")
        page.wait_for("Boolean(document.querySelector('tb-webapp, app-root'))", 60)
        page.value("new Promise(done => setTimeout(done, 12000))")
        path.write_bytes(base64.b64decode(page.picture()))


def take_perfetto(trace, path):
    with perfetto.page_of(trace, size=SIZE) as page:
        page.value("waitForPerfettoIdle().then(() => true)")
        path.write_bytes(base64.b64decode(page.picture()))


def take(world, wanted, out):
    """{peer: file} of those that could be taken."""
    taken = {}
    for peer in wanted:
        path = out / f"peer-{peer.replace(' ', '-')}.png"
        kind, _, tab = peer.partition(" ")
        try:
            if kind == "tensorboard":
                take_tensorboard(world.six_folder if tab in ("scalars", "hparams") else world.one_folder, tab, path)
            else:
                take_perfetto(world.one_folder / "digits/trace.json", path)
        except (RuntimeError, TimeoutError, OSError) as error:
            print(f"{peer}: no picture, {error}")
            continue
        taken[peer] = path.name
    return taken
