"""Changes of whole models."""
