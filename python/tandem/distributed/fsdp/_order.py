"""The order in which units are called: while one computes, the next one's parameters are gathered."""

from tandem import _C


class Order:
    """Of the units below a root, as its first forward has shown it; all ranks have the same."""

    def __init__(self):
        self._units, self._is_known = [], False

    def end(self):
        """After the root's forward."""
        self._is_known = True
        self._settle()

    def meet_forward(self, unit):
        """A unit is about to compute forward."""
        if not self._is_known and unit not in self._units:
            self._units.append(unit)
        if not _C._backward_depth():  # where checkpointed parts compute again, the next unit is through already
            self._gather_ahead(unit, unit.forward_prefetch, 1)

    def meet_backward(self, unit):
        """A unit is about to compute backward."""
        if not unit.prefetches_late:
            self._gather_ahead(unit, unit.backward_prefetch, -1)

    def leave_backward(self, unit):
        """A unit has computed backward: its parameters are given up, its gradients are averaged."""
        if unit.prefetches_late:
            self._gather_ahead(unit, unit.backward_prefetch, -1)

    def end_backward(self):
        """After a backward, perhaps one within another."""
        if _C._backward_depth() == 1:
            self._settle()

    def _gather_ahead(self, unit, wanted, step):
        if wanted is None and self._is_known and unit in self._units:
            place = self._units.index(unit) + step
            wanted = self._units[place:place + 1] if place >= 0 else ()
        for other in wanted or ():
            other.begin_gather()

    def _settle(self):
        """What was gathered ahead and then not used is given up."""
        for unit in self._units:
            unit.drop_coming()
