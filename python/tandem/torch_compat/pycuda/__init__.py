"""Stands in for pycuda where it is not installed: the facts of devices, no kernels."""

VERSION = (0, 0, 0)
VERSION_TEXT = "0.0.0 (tandem's stand-in)"
