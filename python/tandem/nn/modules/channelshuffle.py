"""Channels that change places between groups."""

from tandem import _C
from tandem.nn.modules.module import Module


class ChannelShuffle(Module):
    """Takes one channel of each of `groups` groups in turn."""

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        return _C.channel_shuffle(input, self.groups)

    def extra_repr(self):
        return f"groups={self.groups}"
