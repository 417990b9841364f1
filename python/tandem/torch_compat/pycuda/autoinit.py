"""pycuda.autoinit: device 0 is in use."""

from tandem.torch_compat.pycuda import driver

driver.init()
device = driver.Device(0)
context = device.make_context()
