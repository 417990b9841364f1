# open.py LIBTANDEM PLUGIN: Python opens both and calls them.
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
plugin = ctypes.CDLL(sys.argv[2])
plugin.computing_gradient.restype = ctypes.c_double
assert library._ZN6tandem8num_gpusEv() == 2
assert plugin.computing_gradient() == 2 * 64 * 64 * 64
