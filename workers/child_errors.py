"""What can go wrong with an evaluating child."""


class ChildLost(Exception):
    """The child ended without saying why. Another attempt may do better."""


class ChildError(Exception):
    """The child said why it cannot go on."""

    def __init__(self, *, code: str, kind: str, message: str) -> None:
        super().__init__(message)
        self.code, self.kind, self.message = code, kind, message


class ChildMisbehaved(ChildError):
    """The child lied or took more than it may. The task that it was in fails; another attempt would not do better."""
