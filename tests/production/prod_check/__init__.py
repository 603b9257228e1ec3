"""The whole board as production runs it, on one machine without containers: `make prod-check`."""
