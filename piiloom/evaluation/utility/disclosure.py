"""What a text gives away by exact values, and how much of a text is left: without any model."""

from __future__ import annotations

import re
from collections.abc import Collection

from piiloom.corpus.mention_search import stands_alone
from piiloom.foundation.words import content_words


def tells(text: str, value: str) -> bool:
    """Whether *value* stands in *text* as a whole word, in any case. A blank value stands nowhere."""
    if not value.strip():
        return False
    return any(stands_alone(text, *found.span()) for found in re.finditer(re.escape(value.strip()), text, re.IGNORECASE))


def told_share(text: str, values: Collection[str]) -> float | None:
    """Return the share of *values* that *text* tells; None if there are none."""
    return sum(tells(text, value) for value in values) / len(values) if values else None


def word_overlap(text: str, original: str) -> float | None:
    """Return the share of the content words of *original* that *text* has, too; None if it has none."""
    wanted = content_words(original)
    return len(wanted & content_words(text)) / len(wanted) if wanted else None
