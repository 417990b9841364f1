"""torch.hub: models by a hubconf.py in a local folder, and weights by their address."""

import hashlib
import importlib.util
import os
import re
import sys
import urllib.parse
import urllib.request

from . import _files

_folder = None


def get_dir():
    """The folder that downloads are kept in: set_dir's, TORCH_HOME/hub, or ~/.cache/torch/hub."""
    if _folder is not None:
        return _folder
    home = os.environ.get("TORCH_HOME", os.path.join(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "torch"))
    return os.path.join(os.path.expanduser(home), "hub")


def set_dir(d):
    """Keeps downloads in another folder."""
    global _folder
    _folder = os.path.expanduser(d)


def _entry_points(repo_or_dir, source):
    """The hubconf.py of a local folder, as a module."""
    if source != "local":
        raise NotImplementedError(
            f"torch.hub: '{repo_or_dir}' would be downloaded from GitHub, and its code run. Clone it and use source='local'"
        )
    path = os.path.join(repo_or_dir, "hubconf.py")
    spec = importlib.util.spec_from_file_location("hubconf", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.fspath(repo_or_dir))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(os.fspath(repo_or_dir))
    return module


def list(github, force_reload=False, skip_validation=False, trust_repo=None, verbose=True, *, source="local"):
    """The names of a folder's entry points."""
    return [name for name, value in vars(_entry_points(github, source)).items() if callable(value) and not name.startswith("_")]


def load(repo_or_dir, model, *args, source="github", trust_repo=None, force_reload=False, verbose=True, skip_validation=False, **kwargs):
    """Calls an entry point of a folder's hubconf.py (source='local')."""
    found = getattr(_entry_points(repo_or_dir, source), model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found(*args, **kwargs)


def help(github, model, force_reload=False, skip_validation=False, trust_repo=None, *, source="local"):
    """What an entry point says of itself."""
    return getattr(_entry_points(github, source), model).__doc__


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Writes what is at an address to a file; RuntimeError where its SHA-256 does not begin with hash_prefix."""
    digest = hashlib.sha256()
    with urllib.request.urlopen(url) as source, _files.whole(dst) as file:
        while block := source.read(1 << 20):
            digest.update(block)
            file.write(block)
        if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None, weights_only=False):
    """Weights by their address; downloaded once."""
    from tandem.serialization import load as load_file

    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, file_name or os.path.basename(urllib.parse.urlparse(url).path))
    if not os.path.exists(path):
        wanted = re.search(r"-([a-f0-9]{8,})\.", os.path.basename(path)) if check_hash else None
        print(f'Downloading: "{url}" to {path}\n', file=sys.stderr)
        download_url_to_file(url, path, wanted and wanted.group(1), progress)
    return load_file(path, map_location, weights_only=True)
