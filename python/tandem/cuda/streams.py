"""Streams and events, by PyTorch's second name for them."""

from tandem.cuda import Event, ExternalStream, Stream

__all__ = ["Event", "ExternalStream", "Stream"]
