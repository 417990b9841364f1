"""What a process that a program starts finds as torch: the program has asked for tandem in torch's place, and so it is here."""

import importlib
import sys

importlib.import_module("tandem.torch_compat")
sys.modules[__name__] = importlib.import_module("tandem.torch_compat.torch")
