"""detect_anomaly: backward looks for nan, and names the function that gave it and the line of its forward operation."""

from tandem import _C


class set_detect_anomaly:
    """Turns it on or off for all threads, at once; as a block until its end."""

    def __init__(self, mode, check_nan=True):
        self.prev, self.prev_check_nan = _C._anomaly()
        _C._set_anomaly(mode, check_nan)

    def __enter__(self):
        return None

    def __exit__(self, *error):
        _C._set_anomaly(self.prev, self.prev_check_nan)


class detect_anomaly:
    """A block in which backward looks for nan; with `check_nan` false it does not look."""

    def __init__(self, check_nan=True):
        self.check_nan = check_nan

    def __enter__(self):
        self._scope = set_detect_anomaly(True, self.check_nan)

    def __exit__(self, *error):
        self._scope.__exit__()


def is_anomaly_enabled():
    """Whether it is on."""
    return _C._anomaly()[0]


def is_anomaly_check_nan_enabled():
    """Whether nan is looked for where it is on."""
    return _C._anomaly()[1]
