"""Why a visitor gets no results, in a sentence."""


class PanelRefusal(Exception):
    """Nothing was searched; the message is for the visitor and says what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
