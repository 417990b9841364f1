"""Activation checkpointing of parts of a module, by wrappers."""
