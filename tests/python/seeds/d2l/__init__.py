"""The few names of the book's own package that its notebook uses."""
