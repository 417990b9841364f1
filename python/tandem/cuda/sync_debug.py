"""set_sync_debug_mode: warnings or errors where the host waits for a GPU, by the ledger's knowledge of lines."""

import warnings

from tandem import _C

_MODES = {"default": 0, "warn": 1, "error": 2}
_TEXT = "called a synchronizing CUDA operation"
_mode = 0
_warned = {}  # the lines that Python's filter has shown


def _told(entry):
    """Before each wait of the program's: a warning or an error at its line. synchronize() says what it does, and is let be."""
    if entry["own"] or (entry["kind"] == "synchronize" and entry["stream"] < 0) or entry["asked_non_blocking"]:
        return
    text = f"{_TEXT}: {entry['op']} at {entry['file']}:{entry['line']}"
    if _mode == 2:
        raise RuntimeError(text)
    warnings.warn_explicit(text, UserWarning, entry["file"] or "unknown", entry["line"], registry=_warned)


def set_sync_debug_mode(debug_mode):
    """What a wait does that was not asked for by name: 'default' or 0 nothing, 'warn' or 1 a warning, 'error' or 2 an error.

    item(), a print, a tensor as a condition, nonzero, copies that wait: all that tandem.ledger records, in all threads.
    """
    global _mode
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
        debug_mode = _MODES[debug_mode]
    elif debug_mode not in _MODES.values():
        raise RuntimeError("invalid value of debug_mode, expected one of 0,1,2")
    watch = getattr(_C.seeing, "call_before_waits", None)
    if watch is None and debug_mode:
        raise NotImplementedError("set_sync_debug_mode: this build does not tell of waits; use tandem.ledger.Guard('forbid')")
    if watch is not None:
        watch(_told if debug_mode else None)
    _mode = debug_mode
    _warned.clear()


def get_sync_debug_mode():
    """The mode as a number: 0, 1 or 2."""
    return _mode
