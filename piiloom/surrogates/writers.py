"""The writer of a letter or question: who says "my name is [NAME]" and signs "Sincerely, [NAME]" is one person.

General tags without a number are somebody new at each mention; here the text says that they are not. In a conversation several people
introduce themselves, so only a text with a single introduction is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.surrogates.mentions import Mention
from piiloom.surrogates.side_by_side import OWN_INDEX

GENERAL: Final = frozenset({"", "name"})  # roles of tags that do not say whose name it is
_BEFORE: Final = 32  # code points before a name within which it is announced
_CLOSED: Final = 60  # code points before a name within which the closing of a letter stands
_GAP: Final = re.compile(r"[ \t.,;:!*~_()'\"<>-]*")
_END: Final = re.compile(r"[ \t.,!*~_)'\"-]*(?:\n|\Z)")
_BEGINS: Final = re.compile(r"(?:\A|[.!?\n])[\s*~_(-]*\Z")
_POSSESSED: Final = re.compile(r"['’]s\b")
_TURN: Final = re.compile(r"^[ \t]*[^\s:][^:\n]{0,24}: ", re.MULTILINE)
_FEWEST_TURNS: Final = 3
# What people write beside their signature.
_SIGNED_WITH: Final = frozenset("email phone fax address location city region country occupation url age postcode street".split())


class _WritersFile(FileModel):
    introducing: list[str]
    closing: list[str]


@cache
def _introducing() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(_file().introducing)})\s*[:,]?\s*\Z", re.IGNORECASE)


@cache
def _closing() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(_file().closing)})[\s,.;:!*~_-]*\Z", re.IGNORECASE)


@cache
def _file() -> _WritersFile:
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "writers.yaml", _WritersFile)


def told_writers(text: str, mentions: Sequence[Mention]) -> Sequence[Mention]:
    """Return *mentions* with the writer's introduction and signature as one person; the same object if there are none."""
    introduced = list(_introductions(text, mentions))
    if len(introduced) != 1:
        return mentions
    first = introduced[0]
    index = f"{OWN_INDEX}{first}"
    out = list(mentions)
    out[first] = out[first]._replace(index=index, same="document", form=out[first].form or "full")
    signed = [number for number in range(first + 1, len(out)) if _is_signature(text, mentions, number)]
    if len(signed) == 1 and len(_TURN.findall(text)) < _FEWEST_TURNS:
        last = out[signed[0]]
        out[signed[0]] = last._replace(role=out[first].role, index=index, same="document", form=last.form or "given")
    return out


def _introductions(text: str, mentions: Sequence[Mention]) -> Iterator[int]:
    """Yield the numbers of the mentions with which somebody introduces themselves."""
    for number, mention in enumerate(mentions):
        if mention[2] != "person" or not is_anybody(mention) or _POSSESSED.match(text, mention[1]):
            continue
        if _introducing().search(text, max(0, mention[0] - _BEFORE), mention[0]):
            yield number


def is_anybody(mention: Mention) -> bool:
    """Whether a name is redacted by a general tag without a number, which is somebody new at each mention."""
    return mention[2] == "person" and mention[5] == "mention" and mention[3] in GENERAL and not mention[4] and not mention[8]


def _is_signature(text: str, mentions: Sequence[Mention], number: int) -> bool:
    """Whether mention *number* and what is written beside a signature end their line, after a closing or alone at the end of the text."""
    mention = mentions[number]
    if not is_anybody(mention):
        return False
    end = mention.end
    for after in mentions[number + 1 :]:
        if after.kind not in _SIGNED_WITH or not _GAP.fullmatch(text, end, after.start):
            break
        end = after.end
    last = _END.match(text, end)
    if last is None:
        return False
    if _closing().search(text, max(0, mention.start - _CLOSED), mention.start):
        return True
    alone = text.startswith("\n", last.end()) or not text[last.end() :].strip()  # a blank line follows, or nothing
    return alone and _BEGINS.search(text, 0, mention.start) is not None
