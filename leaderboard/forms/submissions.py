"""The form in which a person asks for an evaluation."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django import forms

from leaderboard.forms.addresses import AddressInvalid, read_repository, read_revision
from leaderboard.models import Suite
from leaderboard.ports import ModelHub, PreflightReport
from leaderboard.selectors.submissions import submittable_suites

REPOSITORY_FIELDS = (("repo_id", "revision"), ("adapter_repo_id", "adapter_revision"))


@dataclass(frozen=True, slots=True)
class Checked:
    """What the form and the hub say together. `report` is None when the form was too broken to ask the hub."""

    report: PreflightReport | None
    passed: bool

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


def _first_of_each_kind(suites: Iterable[Suite]) -> list[Suite]:
    """What most people want: one suite of each kind, real data before synthetic ones."""
    found: dict[str, Suite] = {}
    for suite in suites:
        found.setdefault(suite.kind, suite)
    return list(found.values())


class SubmissionForm(forms.Form):
    """A repository at a revision, perhaps with an adapter, and the suites to run.

    The two repository fields also take pasted addresses; a revision in an address goes to the revision field.
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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        suites = submittable_suites()
        self.fields["suite"].queryset = suites
        self.fields["suite"].initial = _first_of_each_kind(suites)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for repository, revision in REPOSITORY_FIELDS:
            self._clean_repository(cleaned, repository, revision)
        if cleaned.get("adapter_revision") and not self.data.get("adapter_repo_id", "").strip():
            self.add_error("adapter_revision", "Name the adapter's repository too, or leave this empty.")
        return cleaned

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
        for problem in report.problems:
            field = problem.field if problem.field in self.fields else None
            self.add_error(field, forms.ValidationError(problem.message, code=problem.code))
        return Checked(report=report if well_formed else None, passed=well_formed and report.passed)

    def _hub_request(self) -> dict[str, str]:
        """What to ask the hub: the repositories that can be read, with the revisions that can be read."""
        request = {}
        for repository, revision in REPOSITORY_FIELDS:
            if self.cleaned_data.get(repository):
                request[repository] = self.cleaned_data[repository]
                request[revision] = self.cleaned_data.get(revision, "")
        return request
