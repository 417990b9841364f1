"""Averages of the ranks' parameters, in place of averages of their gradients."""
