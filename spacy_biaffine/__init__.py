"""Structured prediction for spaCy: normalized biaffine parsing and its family."""

__version__ = "0.1.0"
