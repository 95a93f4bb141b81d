"""The reasons why an operation is refused: a code for programs and a sentence for the user."""

from __future__ import annotations

from typing import Literal

from piiloom.foundation.errors import UsageError

RefusalCode = Literal[
    "overlap",
    "outside",
    "empty",
    "unknown_span",
    "id_taken",
    "text_differs",
    "unknown_type",
    "bad_relevance",
    "in_doubt",
    "no_question",
    "no_reason",
    "nothing_to_undo",
    "nothing_to_redo",
    "no_longer_fits",
    "no_suggestion",
    "already_decided",
    "malformed",
]
SENTENCES: dict[RefusalCode, str] = {
    "overlap": "The span would overlap another one. Spans cannot overlap: shorten or remove the other one first.",
    "outside": "That place lies outside the text.",
    "empty": "A span needs at least one character.",
    "unknown_span": "That span is no longer there.",
    "id_taken": "A span of that name is already there.",
    "text_differs": "The text at that place is no longer what it was when you edited it.",
    "unknown_type": "That type is not one of the known types.",
    "bad_relevance": "Relevance is high, low or not set.",
    "in_doubt": "The text of a span has changed. Confirm, move or remove each marked span before you accept the record.",
    "no_question": "The question is empty. Write one, or reject the record.",
    "no_reason": "Please say why.",
    "nothing_to_undo": "There is nothing to undo.",
    "nothing_to_redo": "There is nothing to redo.",
    "no_longer_fits": "This step can't be taken back: what it changed has been changed again since.",
    "no_suggestion": "That suggestion is no longer there: the text has changed, or its detector has taken it back.",
    "already_decided": "That suggestion is decided already.",
    "malformed": "The app did not understand this step. Reload the page.",
}


class Refusal(UsageError):
    """Raised when an operation is refused; the document stays unchanged. *sentence* defaults to the standard one of *code*."""

    def __init__(self, code: RefusalCode, sentence: str | None = None) -> None:
        self.code = code
        self.sentence = sentence or SENTENCES[code]
        super().__init__(self.sentence)
