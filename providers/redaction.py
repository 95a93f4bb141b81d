"""What a server says, made fit to show: without keys, without the prompt it was sent, and short."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from piiloom.foundation.words import words

MAX_CHARS = 240
QUOTE_WORDS = 5
# Keys that are not ours may be echoed too: "sk-…", "Bearer …".
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key|api)[-_][\w-]{12,}|(?<=Bearer )\S+", re.IGNORECASE)
WITHHELD = "the server's explanation repeats the prompt and is not shown"


class Redactor:
    """Takes keys, passwords and quotations of the prompt out of text. Never shows what it knows."""

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Iterable[str]) -> None:
        # Very short strings would blank half of every message, and are no secrets.
        self._secrets = tuple(sorted({secret for secret in secrets if len(secret) >= 4}, key=len, reverse=True))

    def __repr__(self) -> str:
        return f"Redactor({len(self._secrets)} secrets)"

    def hide_secrets(self, text: str) -> str:
        """*text* with every known secret, and whatever looks like a key, replaced by three dots."""
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return _KEY_LIKE.sub("…", text)

    def presentable(self, text: str, *, prompt: Sequence[str] = ()) -> str:
        """*text* on one line, at most ``MAX_CHARS`` long; a stand-in when it repeats five words in a row of *prompt*."""
        flat = " ".join(self.hide_secrets(text).split())
        if _quotes(flat, prompt):
            return WITHHELD
        return flat if len(flat) <= MAX_CHARS else flat[: MAX_CHARS - 1] + "…"


def _quotes(text: str, prompt: Sequence[str]) -> bool:
    """Whether *text* repeats ``QUOTE_WORDS`` words in a row of *prompt*."""
    runs = set(_runs(text))
    return bool(runs) and any(run in runs for part in prompt for run in _runs(part))


def _runs(text: str) -> Iterable[tuple[str, ...]]:
    """Every run of ``QUOTE_WORDS`` words in *text*, case-folded."""
    found = [word.casefold() for word in words(text)]
    return (tuple(found[i : i + QUOTE_WORDS]) for i in range(len(found) - QUOTE_WORDS + 1))
