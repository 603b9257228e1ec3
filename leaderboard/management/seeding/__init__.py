"""Draws a board as large as the largest that is expected, to measure pages with. No number of it was measured."""
