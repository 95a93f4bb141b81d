"""Keys of groups by their kind: "story:age-health.gym" is of the kind "story"."""

from __future__ import annotations

import re

from piiloom.evaluation.inputs.documents import Document
from piiloom.foundation.errors import UsageError

_KIND = re.compile(r"\w[\w.-]*")


def checked_kind(kind: str, *, option: str) -> str:
    """Return *kind* if a group key could be of it; raises ``UsageError``, naming *option*, if not."""
    if not _KIND.fullmatch(kind):
        raise UsageError(f"{kind!r} is no kind of group keys", where=option, remedy="Give the part before the colon of a key, as story")
    return kind


def keys_of_kind(document: Document, kind: str) -> tuple[str, ...]:
    """Return the group keys of *document* that are of *kind*, each once."""
    return tuple(dict.fromkeys(key for key in document.group_keys if key.startswith(f"{kind}:")))
