"""The form of a value: how many words it has, whether digits, and how it is capitalised."""

from __future__ import annotations

from typing import Literal

# "none": no letter with a case; "all": capitals only, so an initialism if it is one short word.
Capitals = Literal["none", "lower", "first", "each", "all"]
_LONGEST_INITIALISM = 5


def distance(one: str, other: str) -> int:
    """Return how far apart the forms of two values are: words, digits, and whether one is more than twice as long; 0 is the same."""
    words = abs(len(one.split()) - len(other.split()))
    short, long = sorted((len(one), len(other)))
    return words + 2 * (_digits(one) != _digits(other)) + (long > 2 * short)


def _digits(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _capitals(parts: list[str]) -> Capitals:
    whole = " ".join(parts)
    if whole.islower():  # whatever has no case left out, as by isupper
        return "lower"
    if whole.lower() == whole.upper():
        return "none"
    if whole.isupper() and sum(map(str.isalpha, whole)) > 1:
        return "all"
    first = next((char for char in parts[0] if char.isalpha()), "")
    if not first.isupper():
        return "lower" if first else "first"
    title = len(parts) > 1 and all(part[:1].isupper() or not part[:1].isalpha() for part in parts)
    return "each" if title and sum(len(part) > 2 for part in parts) > 1 else "first"  # "O Rh+" is no title


def recased(text: str, like: str, *, proper: bool = False) -> str | None:
    """Return *text* capitalised as *like* is, or None if that would misspell it.

    Only proper names (*proper*) are written in small letters against their spelling; an initialism ("MRI") asks nothing of others.
    """
    wanted, given = _capitals(like.split()), _capitals(text.split())
    if wanted == given or "none" in (wanted, given):
        return text
    if wanted == "all":
        short = len(like) <= _LONGEST_INITIALISM and not proper and " " not in like
        return text if short else text.upper()
    if wanted == "lower":
        return text.lower() if proper else None
    if wanted == "each" and not proper:
        return " ".join(word[:1].upper() + word[1:] for word in text.split(" "))
    return text[:1].upper() + text[1:]
