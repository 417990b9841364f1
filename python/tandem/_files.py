"""Files that other threads and programs see whole, as the old one or the new one."""

import contextlib
import os
import secrets
import stat


@contextlib.contextmanager
def whole(path, mode="wb", *, sync=True, **options):
    """A file to write, which is at `path` once all of it is: behind a link where that is one, with the mode of the file that was there. Nothing is left of one that was not
    finished. A pipe or a device is written as it is. sync: it is on the disk before it has its name."""
    path = os.path.realpath(path)
    old = os.stat(path) if os.path.exists(path) else None
    if old and not stat.S_ISREG(old.st_mode):
        with open(path, mode, **options) as file:
            yield file
        return
    unfinished = f"{path}.{secrets.token_hex(8)}.unfinished"
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if old else 0o666), mode, **options) as file:
            if old:
                os.chmod(unfinished, stat.S_IMODE(old.st_mode))
            yield file
            if sync:
                file.flush()
                os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)
        raise
