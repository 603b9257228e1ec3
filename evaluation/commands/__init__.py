"""The commands of `python -m evaluation`, one a module."""
