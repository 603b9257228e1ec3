"""Official checkpoints that exist as pickles only, turned once into safetensors folders by whoever runs this board.

Nothing that a visitor can start imports this package; a contract says so. The loaders read the converted folders alone.
"""
