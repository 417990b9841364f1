"""What a communication hook of DistributedDataParallel averages."""


class GradBucket:
    """A bucket that has all its gradients, in one flat tensor."""

    def __init__(self, index, is_last, flat, gradients, parameters):
        self._index, self._is_last, self._flat, self._gradients, self._parameters = index, is_last, flat, gradients, parameters

    def index(self):
        """The number of the bucket."""
        return self._index

    def buffer(self):
        """All its gradients."""
        return self._flat

    def set_buffer(self, buffer):
        """Puts other values into it."""
        self._flat.copy_(buffer)

    def gradients(self):
        """A view of the buffer for each parameter."""
        return list(self._gradients)

    def parameters(self):
        """Whose gradients they are."""
        return list(self._parameters)

    def is_last(self):
        """Whether no other bucket comes after it."""
        return self._is_last
