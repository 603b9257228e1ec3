"""Yes/no questions answered by the more similar of a statement and its negation."""

import pandas as pd

CHANCE = 0.5
"""The balanced accuracy of any answer that does not depend on the question."""
TIE_POLICY = "half_credit"
"""A tie counts as half a yes and half a no."""


def closed_question_table(measured: pd.DataFrame) -> pd.DataFrame:
    """The measured models with `exceeds_chance`: the interval of the balanced accuracy is above chance.

    The highest balanced accuracy of a task comes first.

    Args:
        measured: columns model, task, balanced_accuracy, lower and upper (missing where there is no interval), and
            whatever else is known.
    """
    above = measured["lower"].astype(float) > CHANCE
    return measured.assign(exceeds_chance=above).sort_values(
        ["task", "balanced_accuracy"], ascending=[True, False], kind="stable", ignore_index=True
    )
