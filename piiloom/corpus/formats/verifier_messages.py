"""What a verifier is asked: the type with its definition, the question, and the text with the candidate between two marks.

The marks are ``<candidate>`` and ``</candidate>``, escaped as in ``piiloom.corpus.markers``. Of a text of more than 2,000 characters before
or behind the candidate the rest is cut, with an ellipsis, since a text is repeated for each of its candidates.
"""

from __future__ import annotations

from typing import Final

from piiloom.corpus.formats.instructions import message
from piiloom.corpus.markers import marked_text
from piiloom.corpus.record import Span
from piiloom.taxonomy.entity_types import Taxonomy

MOST_BESIDE: Final = 2000
_MARKED: Final = "candidate"


def verifier_message(context: str, question: str | None, start: int, end: int, entity_type: str, taxonomy: Taxonomy) -> str:
    """Return the user's message, which asks whether ``context[start:end]`` is an *entity_type*."""
    known = taxonomy.types.get(entity_type)
    asked = f"Type: {entity_type}" + (f" ({known.described()})" if known else "")
    return f"{asked}\n{message(_marked(context, start, end), question)}"


def _marked(context: str, start: int, end: int) -> str:
    """Return *context*, cut as the module docstring says, with the candidate marked."""
    begin, stop = 0, len(context)
    if start > MOST_BESIDE:
        begin = start - MOST_BESIDE
        begin = max(begin, context.find(" ", begin, start) + 1)
    if stop - end > MOST_BESIDE:
        stop = end + MOST_BESIDE
        blank = context.rfind(" ", end, stop)
        stop = stop if blank < 0 else blank
    span = Span(id=_MARKED, start=start - begin, end=end - begin, entity_type=_MARKED)
    marked = marked_text(context[begin:stop], [span])
    return ("…" if begin else "") + marked + ("…" if stop < len(context) else "")
