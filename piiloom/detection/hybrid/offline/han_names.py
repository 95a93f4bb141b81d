"""Chinese names: a family name and one or two characters, where a cue before or a form of address behind gives them away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from piiloom.detection.hybrid.offline.cues import LanguageCues
from piiloom.detection.hybrid.offline.finding import RuleFinding
from piiloom.detection.hybrid.offline.known_names import CountryNames

FINDER: Final = "names index"
_HAN: Final = r"\p{Han}"
_CUED, _ADDRESSED, _SET_APART, _USUAL, _IN_TWO_SCRIPTS = 0.75, 0.75, 0.6, 0.6, 0.85
_DOUBLE: Final = "欧阳 司马 上官 诸葛 司徒 夏侯 皇甫 尉迟 公孙 慕容 长孙 宇文 令狐 轩辕 端木 東方 东方".split()


class HanNames:
    """Finds names by *known* family names and *cues*."""

    def __init__(self, known: CountryNames, cues: LanguageCues) -> None:
        family = "|".join(sorted((*_DOUBLE, *map(regex.escape, known.family_native)), key=lambda name: (-len(name), name)))
        behind = "|".join(map(regex.escape, cues.behind_names))
        before = "|".join(map(regex.escape, cues.name_cues))
        none = "|".join(map(regex.escape, cues.not_names))
        not_none = f"(?!{none})" if none else ""
        person = f"{not_none}(?:{family}){_HAN}{{1,2}}"
        # Behind a cue the name ends before anything but Han, or before a form of address or a common verb.
        self._cued = regex.compile(f"(?:{before})[ :：]{{0,2}}({person}?)(?=[^{_HAN}]|$|{behind}|[的于在因将已向给和与、说来到])", regex.V1)
        self._addressed = regex.compile(f"({not_none}(?:{family}){_HAN}{{0,2}}?)(?:{behind})", regex.V1)
        self._set_apart = regex.compile(f"(?<![{_HAN}\\p{{L}}])({person})(?![{_HAN}\\p{{L}}])", regex.V1)
        latin = r"(?:\p{Lu}[\p{Ll}'’\-]+[ ]?){2,4}"
        self._both = regex.compile(f"((?:{person})[(（]{latin}[)）]|{latin}(?:{person})(?![{_HAN}]))", regex.V1)
        usual = f"[{cues.given_characters}]" if cues.given_characters else "(?!)"
        self._usual = regex.compile(f"({not_none}(?:{family}){usual}{{2}})", regex.V1)
        roles = "|".join(map(regex.escape, (*cues.words.get("relation", ()), *cues.words.get("occupation", ()), *cues.name_cues)))
        self._after_role = regex.compile(f"(?:{roles})[ :：]{{0,2}}({not_none}(?:{family}){usual}{{1,2}})", regex.V1)

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield the names in *text*; one place may be found in several ways."""
        for expression, score in (
            (self._cued, _CUED),
            (self._both, _IN_TWO_SCRIPTS),
            (self._addressed, _ADDRESSED),
            (self._set_apart, _SET_APART),
            (self._usual, _USUAL),
            (self._after_role, _CUED),
        ):
            for match in expression.finditer(text):
                yield RuleFinding(*match.span(1), "person_name", score, FINDER)
