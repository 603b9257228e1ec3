"""The hub of model repositories: what it holds, whether a repository can be evaluated, and its download."""

from workers.hub.hub import HuggingFaceHub

__all__ = ["HuggingFaceHub"]
