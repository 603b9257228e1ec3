"""The documentation as a site, and the pages of it that are made from the code."""
