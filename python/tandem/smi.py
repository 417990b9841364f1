"""The table of GPUs, as nvidia-smi has it: this program's, virtual ones too."""

from . import _C


class Table(str):
    """A text that a terminal and a notebook show as it is."""

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        from tandem._html import preformatted
        return preformatted(self)


def smi(all=False):
    """GPUs, their memory and who uses it; with `all`, the virtual GPUs of other programs too."""
    return Table(_C.seeing.smi_table(bool(all)))
