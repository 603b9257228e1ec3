"""Model repositories on a hub: what they hold, whether they can be loaded, and their download."""
