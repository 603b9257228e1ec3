"""The learning rate of each step, a function of the step alone."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Schedule:
    """A linear rise from 0 over `warm_up` steps to `peak`, then half a cosine down to 0 at `steps`."""

    peak: float
    steps: int
    warm_up: int

    def rate(self, step: int) -> float:
        """The learning rate of a step, from 0."""
        if step < self.warm_up:
            return self.peak * (step + 1) / self.warm_up
        done = (step - self.warm_up) / max(self.steps - self.warm_up, 1)
        return self.peak * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))
