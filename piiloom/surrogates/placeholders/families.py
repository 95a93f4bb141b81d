"""Tag patterns (families): one pattern for all tags that differ only in index or contained value: "[appellant sub {index}]"."""

from __future__ import annotations

import re
from typing import Final

from piiloom.foundation.words import any_of

INDEX: Final = r"[0-9]{1,9} ?[A-Za-z]?|[A-Za-z]{1,4}"
IN_INITIALS: Final = "{initials}"
_TOKENS: Final = {
    "{index}": f"(?P<index>{INDEX})",
    "{number}": r"(?P<number>[0-9]{1,5} ?[A-Za-z]?)",
    "{original}": r"(?P<original>[^\[\]<>{}\n]{1,200}?)",
    "{date}": r"(?P<original>[0-9/. -]{1,24}?)",
    "{year}": r"(?P<original>[12][0-9]{3}|'[0-9]{2})",
    "{digits}": r"[0-9]{1,4}",
    "{hash}": r"[0-9A-Fa-f]{5,64}",
    "{letter}": r"(?P<letter>[A-Z](?: {0,2}[A-Z]){0,11})",
    IN_INITIALS: r"(?P<letter>[A-Z](?:\.[ -]?[A-Z]){1,11}\.?)",
}
_TOKEN: Final = re.compile(any_of(_TOKENS))
_SAMPLES: Final = {
    "{index}": "1",
    "{number}": "2",
    "{original}": "abc",
    "{date}": "2151-7-16",
    "{year}": "2151",
    "{digits}": "2019",
    "{hash}": "3fa9c2",
    "{letter}": "X",
    IN_INITIALS: "J. L.",
}


def numbered(literal: str, index: str, number: str = "") -> str:
    """Return *literal* with its index replaced by ``{index}`` (and its *number* by ``{number}``).

    A part that cannot be found stays unchanged. With a *number*, the index is expected at the beginning ("[a-straat 1]"); without
    one, the last occurrence of the index is taken, else one at the beginning.
    """
    if number:
        return _last(_first(literal, index), number, "{number}")
    ended = _last(literal, index, "{index}")
    return ended if ended != literal else _first(literal, index)


def _first(literal: str, index: str) -> str:
    """Replace *index* by ``{index}`` if *literal* begins with it, as in "[a-straat]"; else return *literal*."""
    found = re.match(rf"(\W*){re.escape(index)}(?=[\W_])", literal, re.IGNORECASE)
    return f"{found.group(1)}{{index}}{literal[found.end() :]}" if found else literal


def _last(literal: str, index: str, token: str) -> str:
    """Replace the last occurrence of *index* by *token*; leading zeros and separators inside it are ignored ("18b" matches "018 B")."""
    loose = r"[\s._-]{0,2}".join(map(re.escape, re.findall(r"\d+|\D", index)))
    zeros = "0*" if index[:1].isdigit() else ""
    places = [match.span() for match in re.finditer(rf"(?<![0-9]){zeros}{loose}(?!\w)", literal, re.IGNORECASE)]
    if not places:
        return literal
    start, end = places[-1]
    return f"{literal[:start]}{token}{literal[end:]}"


def has_tokens(tag: str) -> bool:
    """Whether *tag* contains a token such as ``{index}``."""
    return _TOKEN.search(tag) is not None


def sample(tag: str) -> str:
    """Return an example text that the pattern *tag* matches."""
    return _TOKEN.sub(lambda match: _SAMPLES[match.group()], tag)


def pattern_of(tag: str) -> str:
    """Return *tag* as a regular expression whose named groups are index, number, original and letter, as far as it has them.

    ``{date}`` and ``{year}`` give the group original. A repeated token is a named group only the first time.
    """
    parts, at, seen = [], 0, set()
    for match in _TOKEN.finditer(tag):
        token = match.group()
        parts.append(re.escape(tag[at : match.start()]))
        named = ">" in _TOKENS[token]
        parts.append(f"(?:{_TOKENS[token].split('>', 1)[1]}" if named and token in seen else _TOKENS[token])
        seen.add(token)
        at = match.end()
    parts.append(re.escape(tag[at:]))
    return "".join(parts)
