"""Redact server messages before they are shown: no keys, no quotes of the prompt, limited length."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from piiloom.foundation.words import words

MAX_CHARS = 240
QUOTE_WORDS = 5
# Text that looks like a key, since keys that we do not know may be echoed too: "sk-…", "Bearer …".
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key|api)[-_][\w-]{12,}|(?<=Bearer )\S+", re.IGNORECASE)
WITHHELD = "the server's explanation repeats the prompt and is not shown"


class Redactor:
    """Removes *secrets* (keys, passwords) and quotes of the prompt from text. Its ``repr`` does not show the secrets."""

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Iterable[str]) -> None:
        # Shorter strings are not secrets, and removing them would blank much of every message.
        self._secrets = tuple(sorted({secret for secret in secrets if len(secret) >= 4}, key=len, reverse=True))

    def __repr__(self) -> str:
        return f"Redactor({len(self._secrets)} secrets)"

    def hide_secrets(self, text: str) -> str:
        """Replace every known secret, and everything that looks like a key, with "…"."""
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return _KEY_LIKE.sub("…", text)

    def presentable(self, text: str, *, prompt: Sequence[str] = ()) -> str:
        """Return *text* without secrets, on one line of at most ``MAX_CHARS`` characters.

        If it repeats ``QUOTE_WORDS`` consecutive words of *prompt*, ``WITHHELD`` is returned instead.
        """
        flat = " ".join(self.hide_secrets(text).split())
        if _quotes(flat, prompt):
            return WITHHELD
        return flat if len(flat) <= MAX_CHARS else flat[: MAX_CHARS - 1] + "…"


def _quotes(text: str, prompt: Sequence[str]) -> bool:
    """Whether *text* repeats ``QUOTE_WORDS`` consecutive words of *prompt*."""
    runs = set(_runs(text))
    return bool(runs) and any(run in runs for part in prompt for run in _runs(part))


def _runs(text: str) -> Iterable[tuple[str, ...]]:
    """Return every sequence of ``QUOTE_WORDS`` consecutive words in *text*, case-folded."""
    found = [word.casefold() for word in words(text)]
    return (tuple(found[i : i + QUOTE_WORDS]) for i in range(len(found) - QUOTE_WORDS + 1))
