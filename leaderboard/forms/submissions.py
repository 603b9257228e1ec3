"""The form in which a person asks for an evaluation."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django import forms

from leaderboard.exceptions import OwnerOptedOut
from leaderboard.forms.addresses import AddressInvalid, read_repository, read_revision
from leaderboard.models import Suite
from leaderboard.models.vocabulary import TrainingDataStatement
from leaderboard.ports import EncodeConfigChoice, ModelHub, PreflightProblem, PreflightReport
from leaderboard.selectors.submissions import submittable_suites
from leaderboard.selectors.training_data import Dataset, known_datasets
from leaderboard.services.ownership import owner_wish_check
from leaderboard.services.submissions import Wishes

PUBLIC, PRIVATE = "public", "private"
AS_THE_AUTHORS_DO = ("", "As the authors do")
REPOSITORY_FIELDS = (("repo_id", "revision"), ("adapter_repo_id", "adapter_revision"))


@dataclass(frozen=True, slots=True)
class Checked:
    """What the form and the hub say together. `report` is None when the form was too broken to ask the hub.

    `encode_config` is the chosen one where it passed and the family has any.
    """

    report: PreflightReport | None
    passed: bool
    encode_config: EncodeConfigChoice | None = None

    @property
    def only_passing(self) -> bool:
        """Whether nothing stands in the way but troubles that can vanish by themselves."""
        problems = self.report.problems if self.report else ()
        return bool(problems) and all(problem.passing for problem in problems)


class SuiteChoice(forms.ModelMultipleChoiceField):
    """Suites, with what people need to choose them."""

    def label_from_instance(self, suite: Any) -> str:
        tasks = f"{suite.n_installed} task{'' if suite.n_installed == 1 else 's'}"
        return f"{suite.title} ({tasks}{', synthetic data' if suite.synthetic else ''})"


def _wish_problems(report: PreflightReport) -> list[PreflightProblem]:
    """What stands in the way because of an owner who does not want a repository here."""
    try:
        owner_wish_check(report.repo_id, report.adapter_repo_id)
    except OwnerOptedOut as error:
        return [PreflightProblem(code=error.code, field="repo_id", message=error.message)]
    return []


def _in_words(config: EncodeConfigChoice) -> str:
    """A way to encode with what is different in it."""
    return f"{config.name}: {'; '.join(config.differences)}" if config.differences else config.name


def _first_of_each_kind(suites: Iterable[Suite]) -> list[Suite]:
    """What most people want: one suite of each kind, real data before synthetic ones."""
    found: dict[str, Suite] = {}
    for suite in suites:
        found.setdefault(suite.kind, suite)
    return list(found.values())


class SubmissionForm(forms.Form):
    """A repository at a revision, perhaps with an adapter, how to encode it, the suites to run, and who sees the result.

    The two repository fields also take pasted addresses; a revision in an address goes to the revision field. The ways to
    encode are those of the family, so they can be chosen once the hub was asked.
    """

    repo_id = forms.CharField(
        label="Model on the hub",
        max_length=400,
        help_text="owner/name, or the address of its page.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
        error_messages={"required": "Name the model's repository: owner/name."},
    )
    revision = forms.CharField(
        label="Revision",
        required=False,
        max_length=200,
        help_text="Branch, tag or commit; the main branch when left empty. It is pinned to its commit.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    adapter_repo_id = forms.CharField(
        label="Adapter",
        required=False,
        max_length=400,
        help_text="A PEFT repository to load on top of the model.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    adapter_revision = forms.CharField(
        label="Adapter's revision",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    suite = SuiteChoice(
        label="Suites",
        queryset=None,
        to_field_name="slug",
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose at least one suite to run.",
            "invalid_choice": "The suite %(value)s can't be run any more.",
        },
    )

    encode_config = forms.CharField(
        label="Encode config",
        required=False,
        max_length=64,
        widget=forms.Select(choices=[AS_THE_AUTHORS_DO]),
        help_text="Prompts, pooling, sizes and number type. What differs from the default is said beside each.",
    )
    training_data = forms.ChoiceField(
        label="Which of the board's data sets was it trained on?",
        choices=TrainingDataStatement.choices,
        initial=TrainingDataStatement.UNKNOWN,
        required=False,
        widget=forms.RadioSelect,
    )
    declared_training_data = forms.MultipleChoiceField(
        label="Data sets that it was trained on",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"invalid_choice": "No suite of this board is made of %(value)s."},
    )
    visibility = forms.ChoiceField(
        label="When it has finished",
        choices=[
            (PUBLIC, "Publish the result"),
            (PRIVATE, "Keep it private until I publish it"),
        ],
        initial=PUBLIC,
        required=False,
        widget=forms.RadioSelect,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        suites = submittable_suites()
        self.fields["suite"].queryset = suites
        self.fields["suite"].initial = _first_of_each_kind(suites)
        self.datasets = known_datasets()
        self.fields["declared_training_data"].choices = [(dataset.name, dataset.name) for dataset in self.datasets]

    @property
    def offers_encode_configs(self) -> bool:
        """Whether the hub was asked and the family has more than one way to encode, or one was asked for."""
        return len(self.fields["encode_config"].widget.choices) > 1 or bool(self["encode_config"].value())

    def wishes(self, checked: Checked) -> Wishes:
        """What was decided besides model and suites. Where nothing is said, training data are unknown, results public."""
        return Wishes(
            encode_config=checked.encode_config,
            training_data=TrainingDataStatement(self.cleaned_data["training_data"] or TrainingDataStatement.UNKNOWN),
            declared_training_data=self.cleaned_data["declared_training_data"],
            is_private=self.cleaned_data["visibility"] == PRIVATE,
        )

    def dataset_groups(self) -> list[tuple[str, list[tuple[Dataset, bool]]]]:
        """The data sets under their groups, each with whether it is ticked."""
        ticked = set(self["declared_training_data"].value() or ())
        groups: dict[str, list[tuple[Dataset, bool]]] = {}
        for dataset in self.datasets:
            groups.setdefault(dataset.group, []).append((dataset, dataset.name in ticked))
        return list(groups.items())

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for repository, revision in REPOSITORY_FIELDS:
            self._clean_repository(cleaned, repository, revision)
        if cleaned.get("adapter_revision") and not self.data.get("adapter_repo_id", "").strip():
            self.add_error("adapter_revision", "Name the adapter's repository too, or leave this empty.")
        self._clean_training_data(cleaned)
        return cleaned

    def _clean_training_data(self, cleaned: dict[str, Any]) -> None:
        """The list of data sets and what is said of it must agree."""
        if "training_data" not in cleaned or "declared_training_data" not in cleaned:
            return
        says_listed = cleaned["training_data"] == TrainingDataStatement.LISTED
        if says_listed and not cleaned["declared_training_data"]:
            self.add_error("training_data", "Tick the data sets, or give another answer.")
        elif cleaned["declared_training_data"] and not says_listed:
            message = f"You ticked data sets: answer “{TrainingDataStatement.LISTED.label}”, or untick them."
            self.add_error("training_data", message)

    def _clean_repository(self, cleaned: dict[str, Any], repository: str, revision: str) -> None:
        """Read the pair of fields; each trouble goes to the field that it belongs to."""
        pasted = ""
        if cleaned.get(repository):
            try:
                found = read_repository(cleaned[repository])
                cleaned[repository], pasted = found.repo_id, found.revision
            except AddressInvalid as error:
                self.add_error(repository, forms.ValidationError(str(error), code="address_invalid"))
        if cleaned.get(revision):
            try:
                cleaned[revision] = read_revision(cleaned[revision])
            except AddressInvalid as error:
                self.add_error(revision, forms.ValidationError(str(error), code="address_invalid"))
        if pasted and cleaned.get(revision, pasted) not in {"", pasted}:
            self.add_error(revision, f"The address above names revision {pasted}. Leave one of them out.")
        elif pasted and revision in cleaned:
            cleaned[revision] = pasted

    def check(self, hub: ModelHub) -> Checked:
        """Ask the hub, and put its problems beside the form's own, each at its field.

        The hub is asked as long as the model's repository can be read, so that a person sees all troubles at once.
        """
        self.full_clean()
        if "repo_id" not in self.cleaned_data:
            return Checked(report=None, passed=False)
        well_formed = self.is_valid()
        report = hub.preflight(**self._hub_request())
        chosen = self._chosen_config(report)
        problems = [*report.problems, *_wish_problems(report)]
        if isinstance(chosen, PreflightProblem):
            problems.append(chosen)
        for problem in problems:
            field = problem.field if problem.field in self.fields else None
            self.add_error(field, forms.ValidationError(problem.message, code=problem.code))
        return Checked(
            report=report if well_formed else None,
            passed=well_formed and not problems,
            encode_config=chosen if isinstance(chosen, EncodeConfigChoice) else None,
        )

    def _chosen_config(self, report: PreflightReport) -> EncodeConfigChoice | PreflightProblem | None:
        """The encode config that was asked for, None where the family is not known; the field offers what there is."""
        if not report.encode_configs:
            return None
        default, *others = report.encode_configs
        widget = self.fields["encode_config"].widget
        widget.choices = [("", f"{default.name} (the authors' own)"), *((one.name, _in_words(one)) for one in others)]
        name = self.cleaned_data.get("encode_config", "")
        found = next((one for one in report.encode_configs if name in ("", one.name)), None)
        if found is not None:
            return found
        message = f"This family has no encode config {name}. Choose among those that it has."
        return PreflightProblem(code="encode_config_unknown", field="encode_config", message=message)

    def _hub_request(self) -> dict[str, str]:
        """What to ask the hub: the repositories that can be read, with the revisions that can be read."""
        request = {}
        for repository, revision in REPOSITORY_FIELDS:
            if self.cleaned_data.get(repository):
                request[repository] = self.cleaned_data[repository]
                request[revision] = self.cleaned_data.get(revision, "")
        return request
