"""detect_anomaly: accepted. An error of backward names the line of the forward operation always, without a mode for it."""


class detect_anomaly:
    """Accepted as a block; errors of backward name the forward operation's line always."""

    def __init__(self, check_nan=True):
        self.check_nan = check_nan

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class set_detect_anomaly(detect_anomaly):
    """The same as a function."""

    def __init__(self, mode, check_nan=True):
        super().__init__(check_nan)
