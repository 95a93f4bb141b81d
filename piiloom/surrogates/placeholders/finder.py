"""Find the placeholders of a text by a mapping: their exact spans, their meanings, and look-alikes whose meaning is unknown."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Final, Literal, NamedTuple

from piiloom.foundation.errors import DataError
from piiloom.surrogates.mentions import Mention
from piiloom.surrogates.placeholders.judging import Judge
from piiloom.surrogates.placeholders.kept_scans import KeptScans
from piiloom.surrogates.placeholders.letter_people import LETTER
from piiloom.surrogates.placeholders.mapping import USE_FROM, Mapping, Rule
from piiloom.surrogates.placeholders.own_patterns import OwnPatterns
from piiloom.surrogates.placeholders.reading import Reader
from piiloom.surrogates.placeholders.scanning import Candidate, scanner_of
from piiloom.surrogates.placeholders.settling import Settling
from piiloom.surrogates.placeholders.surroundings import Surroundings, cues
from piiloom.surrogates.placeholders.tag_rules import TagRules
from piiloom.surrogates.placeholders.verdicts import NUMBER, UNTOLD, Verdict
from piiloom.surrogates.placeholders.vocabulary import vocabulary

OnUnknown = Literal["keep", "error", "generic"]

UNSURE: Final = "too unsure to be used"
UNLISTED: Final = "not in the mapping"
LISTED: Final = "listed as unknown in the mapping"
_LEAST: Final = 0.4  # below this confidence a tag is not used, whatever cues surround it
_MOST_REMEMBERED: Final = 50_000  # entries of the cache of verdicts by literal
_LONGEST_REMEMBERED: Final = 80
_NAMED: Final = 10  # unknown placeholders that an error counts out


class Unknown(NamedTuple):
    """A span ``[start, end)`` that looks like a placeholder but is not used. ``why`` gives the reason, ``tag`` its pattern."""

    start: int
    end: int
    why: str
    tag: str = ""


class Found(NamedTuple):
    """The result for one text. Each list is in text order, and its spans do not overlap.

    ``left`` holds the ``(start, end)`` of brackets that are ordinary text. With ``on_unknown="generic"`` each unknown place is also in
    ``mentions``.
    """

    mentions: list[Mention]
    unknown: list[Unknown]
    left: list[tuple[int, int]]


class Finder:
    """Finds placeholders by the rules of a *mapping*, or by the built-in vocabulary alone if there is none.

    The patterns are compiled once, so use one finder for many texts. *kept* is what the survey of them scanned.
    """

    def __init__(self, mapping: Mapping | None = None, on_unknown: OnUnknown = "keep", kept: KeptScans | None = None) -> None:
        self._mapping = mapping or Mapping()
        self._on_unknown = on_unknown
        languages = self._mapping.languages
        self._scanner = scanner_of(self._mapping.grammars, languages)
        self._scan = self._scanner.scan if kept is None else kept.scan_of(self._scanner)
        self._judge = Judge(Reader(vocabulary(languages)), self._scanner)
        self._rules = TagRules(self._mapping)
        self._own = OwnPatterns(self._mapping, self._scanner)
        self._cues = cues(languages)
        self._noted = {noted.tag for noted in self._mapping.unknown}
        self._left = {noted.tag for noted in self._mapping.left_alone}
        self._memo: dict[tuple[str, str], tuple[Verdict, Rule | None]] = {}

    def find(self, text: str, where: str = "document") -> Found:
        """Return the placeholders of *text*.

        With ``on_unknown="error"`` unknown placeholders raise ``DataError``; *where* names the document in its message.
        """
        found = Found([], [], [])
        around = Surroundings(text)
        settling = Settling(text, self._cues, found.mentions)
        numbers: list[Candidate] = []
        lettered: list[tuple[Candidate, Verdict]] = []
        for candidate, own in self._candidates(text):
            verdict, rule = own if own is not None else self._verdict(candidate)
            if verdict.status == "nothing":
                continue
            real = verdict.status == "left" or ((rule is None or verdict.status == "unknown") and around.is_real(candidate, verdict))
            if real:
                found.left.append((candidate.start, candidate.end))
                if verdict.family == NUMBER:
                    numbers.append(candidate)
            elif verdict.status == "known":
                doubt = self._doubt(text, candidate, verdict) if rule is None else "" if rule.use else UNSURE
                why = doubt or settling.place(candidate, verdict)
                if why:
                    self._unknown(candidate, verdict, why, found)
            elif verdict.meaning.role == LETTER:
                lettered.append((candidate, verdict))
            else:
                self._unknown(candidate, verdict, verdict.why, found)
        settling.finish()
        self._told_by_document(settling, numbers, lettered, found)
        if self._on_unknown == "error" and found.unknown:
            raise _refused(text, found.unknown, where)
        return found

    def _told_by_document(
        self, settling: Settling, numbers: list[Candidate], lettered: list[tuple[Candidate, Verdict]], found: Found
    ) -> None:
        """Place the companies among *numbers* in brackets and *lettered* words, which the whole document tells; list the other letters."""
        if numbers and (companies := settling.place_numbers(numbers)):
            found.left[:] = [place for place in found.left if place[0] not in companies]
        if lettered:
            companies = settling.place_companies(lettered)
            for candidate, verdict in lettered:
                if candidate.start not in companies:
                    self._unknown(candidate, verdict, verdict.why, found)
            found.unknown.sort()
            found.mentions.sort()

    def _candidates(self, text: str) -> Iterator[tuple[Candidate, tuple[Verdict, Rule | None] | None]]:
        if not self._own:
            return zip(self._scan(text), repeat(None))
        return self._own.merged(text, self._scan(text))

    def _verdict(self, candidate: Candidate) -> tuple[Verdict, Rule | None]:
        """Return the verdict on a candidate and the rule that applies to it, if any; cached by grammar and literal."""
        key = (candidate.grammar.name, candidate.literal)
        known = self._memo.get(key)
        if known is not None:
            return known
        rule, verdict = self._rules.rule_of(candidate, self._judge.judge(candidate))
        if rule is None and verdict.family in self._left:
            verdict = verdict._replace(status="left")
        elif rule is None and verdict.family in self._noted and verdict.status != "unknown":
            verdict = verdict._replace(status="unknown", why=LISTED)
        if len(self._memo) < _MOST_REMEMBERED and len(candidate.literal) <= _LONGEST_REMEMBERED:
            self._memo[key] = verdict, rule
        return verdict, rule

    def _doubt(self, text: str, candidate: Candidate, verdict: Verdict) -> str:
        """Return the reason why a tag with a known meaning and without a rule must not be used, or "" if it may be."""
        if self._mapping.unlisted == "report":
            return UNLISTED
        if verdict.sure >= USE_FROM or self._is_told(text, candidate, verdict):
            return ""
        return UNTOLD if candidate.grammar.shape == "run" else UNSURE

    def _is_told(self, text: str, candidate: Candidate, verdict: Verdict) -> bool:
        """Whether the text right beside an unsure tag without a rule confirms its kind, as in "(AGE) years old".

        Tags in lower case are never confirmed ("we [his wife] said"). Nor are tags below ``_LEAST``, such as long runs of "_", which
        are mostly forms to fill in.
        """
        meaning = verdict.meaning
        if meaning.role == "letter" or verdict.sure < _LEAST or candidate.literal != candidate.literal.upper():
            return False
        cue = self._cues.around(text, candidate.start, candidate.end, untold=meaning.kind == "generic")
        return cue is not None and cue.sure >= 1 and (meaning.context == "mention" or cue.kind == meaning.kind)

    def _unknown(self, candidate: Candidate, verdict: Verdict, why: str, found: Found) -> None:
        start, end = candidate.start, candidate.end
        if self._on_unknown == "generic":
            role = candidate.literal.casefold()[:_LONGEST_REMEMBERED]
            found.mentions.append(Mention(start, end, "generic", role=role, rule=verdict.family))
        found.unknown.append(Unknown(start, end, why, verdict.family))


def _refused(text: str, unknown: list[Unknown], where: str) -> DataError:
    """Return the error of a document with *unknown* placeholders, which says where the first of them are."""
    start, end, why, _ = unknown[0]
    places = ", ".join(f"{one.start} to {one.end}" for one in unknown[1:_NAMED])
    others = f"; {len(unknown) - 1} more in this text: characters {places}" if places else ""
    line = text.count("\n", 0, start) + 1
    return DataError(
        f"characters {start} to {end} look like a placeholder: {why} (line {line} of the text){others}",
        where=where,
        remedy="Give it a meaning in the mapping (piiloom surrogate survey lists all of the corpus), or use --on-unknown keep or generic.",
    )


class PlaceholderKeys:
    """Function that returns whether a JSON key has a placeholder of *mapping*. Picklable: the finder is compiled where it is used."""

    def __init__(self, mapping: Mapping) -> None:
        self._mapping = mapping
        self._finder: Finder | None = None

    def __call__(self, key: str) -> bool:
        """Return whether *key* has a placeholder."""
        if self._finder is None:
            self._finder = Finder(self._mapping)
        found = self._finder.find(key)
        return bool(found.mentions or found.unknown)

    def __reduce__(self) -> tuple[type[PlaceholderKeys], tuple[Mapping]]:
        return type(self), (self._mapping,)
