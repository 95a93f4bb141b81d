"""Tags in scripts of which no vocabulary is known: "[الاسم]", "<данные изъяты>", "【氏名】". They are listed, never filled."""

from __future__ import annotations

import re
from typing import Final

from piiloom.surrogates.placeholders.grammar_files import grammars_file

_OTHER: Final = re.compile(r"[^\W\d_A-Za-zªºÀ-ɏ\u1e00-\u1eff]")
_EAST_ASIAN: Final = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]")
_ANY: Final = frozenset("stars angle angles triple_angle escaped_angle curly double_curly triple_curly double_square".split())
_QUOTES: Final = frozenset("guillemets angle_quotes double_angle_quotes corner_quotes white_corner_quotes".split())


def in_other_script(text: str) -> bool:
    """Whether *text* has letters of another script than the Latin one."""
    return _OTHER.search(text) is not None


def speaks_in_other_script(text: str) -> bool:
    """Whether *text* has a word that tags in other scripts have."""
    low = text.casefold()
    return any(word in low for word in grammars_file().other_scripts)


def is_tag(grammar: str, tag: str) -> bool:
    """Whether *tag*, in another script and between the signs of *grammar*, stands for something.

    Angle and curly brackets seldom hold anything else. Square brackets hold insertions of editors in scripts with small letters
    ("[они]"), headings and emoji in East Asian texts ("【重要】", "[微笑]"), so that the words decide; quotes hold what somebody said.
    """
    if is_quoted(grammar):
        return tag.casefold().rstrip("0123456789_ ") in grammars_file().other_scripts
    if grammar in _ANY or speaks_in_other_script(tag):
        return True
    return not _EAST_ASIAN.search(tag) and (tag.upper() == tag.lower() or tag == tag.upper())


def is_quoted(grammar: str) -> bool:
    """Whether *grammar* is one of quotes, which mostly hold what somebody said."""
    return grammar in _QUOTES
