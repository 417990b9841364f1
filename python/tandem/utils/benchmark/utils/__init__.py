"""The parts of tandem.utils.benchmark: measurements, their comparison, the timer."""
