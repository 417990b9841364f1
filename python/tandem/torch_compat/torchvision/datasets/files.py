"""Files of datasets: downloads that are checked."""

import hashlib
import os
import urllib.error
import urllib.request

from tandem import _files


def download(addresses, path, md5):
    """Writes what is at the first address that answers to a file; RuntimeError that says where it belongs where none has it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    reasons = []
    for address in addresses:
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:
                data = answer.read()
        except (OSError, urllib.error.URLError) as error:
            reasons.append(f"{address}: {error}")
            continue
        if hashlib.md5(data, usedforsecurity=False).hexdigest() != md5:
            reasons.append(f"{address}: the file is damaged, or another one")
            continue
        with _files.whole(path) as file:
            file.write(data)
        return
    raise RuntimeError(f"Error downloading {os.path.basename(path)}: {'; '.join(reasons)}. Without a network, put the file at {path}")
