"""One pattern for all tags that differ only in their index or in the value they bear: "[appellant sub {index}]"."""

from __future__ import annotations

import re
from typing import Final

INDEX: Final = r"[0-9]{1,9} ?[A-Za-z]?|[A-Za-z]{1,4}"
_TOKENS: Final = {
    "{index}": f"(?P<index>{INDEX})",
    "{number}": r"(?P<number>[0-9]{1,5} ?[A-Za-z]?)",
    "{original}": r"(?P<original>[^\[\]<>{}\n]{1,200}?)",
    "{date}": r"(?P<original>[0-9/. -]{1,24}?)",
    "{letter}": r"(?P<letter>[A-Z](?: {0,2}[A-Z]){0,11})",
}
_TOKEN: Final = re.compile("|".join(map(re.escape, _TOKENS)))
_SAMPLES: Final = {"{index}": "1", "{number}": "2", "{original}": "abc", "{date}": "2151-7-16", "{letter}": "X"}


def numbered(literal: str, index: str, number: str = "") -> str:
    """*literal* with ``{index}`` (and ``{number}``) where its index stands; unchanged where it cannot be found."""
    if number:
        return _last(_first(literal, index), number, "{number}")
    ended = _last(literal, index, "{index}")
    return ended if ended != literal else _first(literal, index)


def _first(literal: str, index: str) -> str:
    """*literal* with ``{index}`` where it begins with *index*: "[a-straat]"."""
    found = re.match(rf"(\W*){re.escape(index)}(?=[\W_])", literal, re.IGNORECASE)
    return f"{found.group(1)}{{index}}{literal[found.end() :]}" if found else literal


def _last(literal: str, index: str, token: str) -> str:
    """*literal* with its last *index*, which leading zeros and inner spaces may disguise, as *token*."""
    loose = r"[\s._-]{0,2}".join(map(re.escape, re.findall(r"\d+|\D", index)))
    zeros = "0*" if index[:1].isdigit() else ""
    places = [match.span() for match in re.finditer(rf"(?<![0-9]){zeros}{loose}(?!\w)", literal, re.IGNORECASE)]
    if not places:
        return literal
    start, end = places[-1]
    return f"{literal[:start]}{token}{literal[end:]}"


def has_tokens(tag: str) -> bool:
    """Whether *tag* has a part that stands for several spellings."""
    return _TOKEN.search(tag) is not None


def sample(tag: str) -> str:
    """One text that *tag* stands for."""
    return _TOKEN.sub(lambda match: _SAMPLES[match.group()], tag)


def pattern_of(tag: str) -> str:
    """*tag* as a regular expression with the groups index, number, original and letter."""
    parts, at, seen = [], 0, set()
    for match in _TOKEN.finditer(tag):
        token = match.group()
        parts.append(re.escape(tag[at : match.start()]))
        parts.append(_TOKENS[token] if token not in seen else f"(?:{_TOKENS[token].split('>', 1)[1]}")
        seen.add(token)
        at = match.end()
    parts.append(re.escape(tag[at:]))
    return "".join(parts)
