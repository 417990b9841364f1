"""A notebook's cells by the names that its reader knows."""

import sys


def name_of(file):
    """In[7] for the file name that IPython gave the code of cell 7; None for any other."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    words = shell.compile.format_code_name(file) if shell is not None else None
    return words[1] if words else None
