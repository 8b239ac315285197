"""A page on which a pipeline's analysis of a text can be seen. Needs pip install
-e ".[serve]" in a clone."""
