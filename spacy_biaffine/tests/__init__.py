"""Tests that travel with the package: pytest --pyargs spacy_biaffine."""
