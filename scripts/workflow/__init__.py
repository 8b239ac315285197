"""The steps of project.yml, one after the other; scripts/project.py runs them.

A Source is what is in the user's folder, a Place is where all that is made of it goes, and Learned
is what the config wants to find there.
"""
