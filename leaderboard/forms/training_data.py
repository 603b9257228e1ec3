"""The form in which an administrator records what a model was trained on."""

from typing import Any

from django import forms

from leaderboard.models import EmbeddingModel, TrainingDataMark
from leaderboard.models.vocabulary import TrainingVerdict
from leaderboard.selectors.training_data import known_datasets


class TrainingDataMarkForm(forms.Form):
    """A model, a data set, what was found, and where it is known from."""

    model = forms.ModelChoiceField(
        label="Model",
        queryset=EmbeddingModel.objects.all(),
        to_field_name="repo_id",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="owner/name, in the spelling of its page here. The finding holds for all of its revisions.",
        error_messages={"invalid_choice": "No model of this name is known here.", "required": "Name the model."},
    )
    dataset = forms.ChoiceField(
        label="Data set",
        error_messages={
            "invalid_choice": "No suite of this board is made of %(value)s.",
            "required": "Choose the data set.",
        },
    )
    verdict = forms.ChoiceField(label="What was found", choices=TrainingVerdict.choices)
    reason = forms.CharField(
        label="Where this is known from, shown to everybody",
        max_length=TrainingDataMark._meta.get_field("reason").max_length,  # noqa: SLF001 - public in spite of its name
        error_messages={"required": "Say where this is known from, for instance the section of a paper."},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [(dataset.name, dataset.name) for dataset in known_datasets()]
        self.fields["dataset"].choices = [("", "Choose a data set"), *known]
