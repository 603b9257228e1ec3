"""Stand-ins for what lies outside the leaderboard."""

from collections.abc import Sequence

from leaderboard.ports import EncodeConfigChoice, FoundLine, PreflightProblem, PreflightReport

COMMIT = "c0ffee00" * 5
ADAPTER_COMMIT = "ada97e40" * 5
SHA256 = "5ca1ab1e" * 8
SIGLIP_CONFIGS = (
    EncodeConfigChoice("default", "bfloat16"),
    EncodeConfigChoice("letters-as-given", "bfloat16", SHA256, differences=("small letters: no",)),
)
TEXT_CONFIGS = (EncodeConfigChoice("default", "float32", reads=("text",)),)


class FakeHub:
    """A hub with a few repositories under `lab/`, each with one behaviour; every other repository is missing."""

    def __init__(self, *, endpoint: str, token: str) -> None:
        self.endpoint = endpoint

    def preflight(
        self, *, repo_id: str, revision: str = "", adapter_repo_id: str = "", adapter_revision: str = ""
    ) -> PreflightReport:
        adapter = {"adapter_repo_id": adapter_repo_id, "adapter_commit": ADAPTER_COMMIT} if adapter_repo_id else {}
        facts = {
            "commit": COMMIT,
            "family": "siglip",
            "architecture": "SiglipModel",
            "parameters": 877_960_000,
            "size_bytes": 3_511_950_000,
            "licence": "apache-2.0",
            "encode_configs": SIGLIP_CONFIGS,
            **adapter,
        }
        match repo_id:
            case "lab/good":
                return PreflightReport(repo_id=repo_id, **facts)
            case "lab/texts":
                return PreflightReport(repo_id=repo_id, **{**facts, "encode_configs": TEXT_CONFIGS})
            case "lab/hostile":
                return PreflightReport(repo_id=repo_id, **{**facts, "licence": "<script>alert('licence')</script>"})
            case "lab/offline":
                problem = PreflightProblem("hub_silent", "repo_id", "The hub did not answer.", passing=True)
                return PreflightReport(repo_id=repo_id, problems=(problem,))
            case "lab/broken":
                return PreflightReport(
                    repo_id=repo_id,
                    problems=(
                        PreflightProblem("no_safetensors", "repo_id", "It has no safetensors. Convert its weights."),
                        PreflightProblem(
                            "revision_missing", "revision", "There is no such revision. See its branches."
                        ),
                        PreflightProblem("adapter_missing", "adapter_repo_id", "The adapter does not exist."),
                        PreflightProblem("odd", "", "Something about the whole request."),
                    ),
                )
        problem = PreflightProblem("repository_missing", "repo_id", f"{repo_id} does not exist. Check the spelling.")
        return PreflightReport(repo_id=repo_id, problems=(problem,))

    def find_line(self, *, repo_id: str, line: str, files: Sequence[str]) -> FoundLine | PreflightProblem | None:
        """`lab/good` has every line in its model card, `lab/broken` none; nothing else can be read."""
        match repo_id:
            case "lab/good":
                return FoundLine("README.md", COMMIT)
            case "lab/broken":
                return None
        return PreflightProblem("repository_missing", "repo_id", f"{repo_id} does not exist. Check the spelling.")
