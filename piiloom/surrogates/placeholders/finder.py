"""Finding the placeholders of a document: exact spans, meanings, and look-alikes of unknown meaning.

The ``tag:`` rules of a mapping apply to candidates of the built-in grammars. The user's regular expressions, and tags of another form,
find the rest. The survey of a corpus keeps its scans for the finder that reads the same texts afterwards in the same process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Final, NamedTuple

from piiloom.foundation.errors import DataError
from piiloom.surrogates.documents import Mention
from piiloom.surrogates.placeholders.grammar import IN_INITIALS, Grammar, has_tokens, pattern_of, sample
from piiloom.surrogates.placeholders.judging import Judge, mask_form, remember
from piiloom.surrogates.placeholders.mapping import USE_FROM, Mapping, TagRule
from piiloom.surrogates.placeholders.reading import MASK, NUMBER, UNTOLD, Meaning, Reader, TagVerdict
from piiloom.surrogates.placeholders.scanning import Scanner, TagCandidate, disjoint, scanner_of
from piiloom.surrogates.placeholders.settling import Settling
from piiloom.surrogates.placeholders.surroundings import LETTER, TagSurroundings, cues
from piiloom.surrogates.placeholders.vocabulary import vocabulary
from piiloom.surrogates.settings import OnUnknown

if TYPE_CHECKING:
    import regex


class TagRules:
    """The ``tag:`` rules of a mapping, found by exact tag, by family (the survey's pattern), or by matching a user's own pattern."""

    def __init__(self, mapping: Mapping) -> None:
        rules = [rule for rule in mapping.rules if rule.tag]
        self._by_tag = {rule.tag: rule for rule in rules}
        self._patterns = [(re.compile(pattern_of(rule.tag)), rule) for rule in rules if has_tokens(rule.tag)]

    def rule_of(self, literal: str, verdict: TagVerdict) -> tuple[TagRule | None, TagVerdict]:
        """Return the rule for the candidate *literal* and the verdict it gives, or None and *verdict* unchanged if there is no rule."""
        if not self._by_tag:
            return None, verdict
        literal = " ".join(literal.split())
        family = self._by_tag.get(verdict.family)
        rule = self._by_tag.get(literal)
        for pattern, other in self._patterns if rule is None else ():
            if (family is None or other is family) and (match := pattern.fullmatch(literal)):
                return other, by_rule(other, verdict, match.groupdict())
        rule = rule or family
        return (rule, by_rule(rule, verdict, {})) if rule is not None else (None, verdict)


def by_rule(rule: TagRule, verdict: TagVerdict, groups: dict[str, str | None]) -> TagVerdict:
    """Return *verdict* with the meaning of *rule*.

    Index, number and original come from *groups* (the groups of the tag's match) or from *verdict*.
    """
    own = verdict.meaning
    index = groups.get("index") or groups.get("letter") or rule.index or own.index
    number = groups.get("number") or own.number
    meaning = Meaning(
        rule.kind,
        role=rule.role,
        index=own.index if own.index and not rule.index else index.replace(" ", "").casefold(),
        same=rule.same,
        form=rule.form or (own.form if own.role == MASK else ""),
        gender=rule.gender,
        plural=rule.plural,
        context=rule.context,
        number=number,
    )
    read = verdict.original if verdict.family == rule.name else ""  # what stands for the original need not be what the tag has
    original = read or groups.get("original") or verdict.original
    return verdict._replace(status="known", family=rule.name, meaning=meaning, original=original, sure=rule.confidence)


_OWN = Grammar("own", "signs", "", "", 1.0, 1.0, "none")

OwnMatch = tuple[TagVerdict, TagRule | None]


class OwnPatterns:
    """The compiled patterns of a mapping's ``regex:`` rules and of the ``tag:`` rules that no grammar of *scanner* finds.

    Rules with ``use=False`` are skipped. The object is false if there are no patterns.
    """

    def __init__(self, mapping: Mapping, scanner: Scanner) -> None:
        self._file = mapping.file or "mapping"
        self._patterns: list[tuple[regex.Pattern[str], TagRule]] = []
        for rule in mapping.rules:
            if not rule.use:
                continue
            if rule.regex:
                self._patterns.append((_compiled(rule.regex), rule))
            elif not _scanned(rule.tag, scanner):
                before = r"(?<!\w)" if rule.tag[:1].isalnum() else ""
                after = r"(?!\w)" if rule.tag[-1:].isalnum() or rule.tag.endswith("}") else ""
                self._patterns.append((_compiled(f"{before}{pattern_of(rule.tag)}{after}"), rule))

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def merged(self, text: str, candidates: Iterable[TagCandidate]) -> Iterator[tuple[TagCandidate, OwnMatch | None]]:
        """Return the matches in *text* merged with *candidates*, in text order and without overlaps.

        Of overlapping ones the first to start is kept, then the longer, then the one of the user's pattern. A match comes with its
        verdict and rule, a candidate with None. Raises ``DataError`` if a pattern exceeds the time limit.
        """
        found: list[tuple[TagCandidate, OwnMatch | None]] = [*self._matches(text), *zip(candidates, repeat(None))]
        found.sort(key=lambda pair: (pair[0].start, -pair[0].end, pair[1] is None))
        return disjoint(found)

    def _matches(self, text: str) -> Iterator[tuple[TagCandidate, OwnMatch]]:
        limit = 1 + len(text) / 1e6  # seconds for one pattern
        for pattern, rule in self._patterns:
            try:
                matches = list(pattern.finditer(text, timeout=limit))
            except TimeoutError as error:
                raise DataError(
                    f"the pattern of this rule took more than {limit:.0f} s on one document",
                    where=f"{self._file}:{rule.line}" if rule.line else self._file,
                    remedy="Make it simpler: avoid a repeat inside a repeat, such as (a+)+.",
                ) from error
            for match in matches:
                groups = match.groupdict()
                start, end = match.span("letter") if groups.get("letter") else match.span()
                if end > start:
                    yield TagCandidate(start, end, _OWN, match.group()), _own(rule, groups, match.group())


def _compiled(pattern: str) -> regex.Pattern[str]:
    import regex  # noqa: PLC0415 - most corpora need no such pattern, and loading it takes 15 ms

    return regex.compile(pattern)


def _own(rule: TagRule, groups: dict[str, str | None], literal: str) -> OwnMatch:
    index = re.sub(r"\s+", "", groups.get("index") or groups.get("letter") or rule.index).casefold()
    role = (groups.get("role") or rule.role).casefold()
    form = rule.form or (mask_form(rule.kind, literal) if rule.role == MASK else "")
    meaning = Meaning(rule.kind, role, index, rule.same, form, rule.gender, rule.plural, 1.0, rule.context, groups.get("number") or "")
    return TagVerdict("known", rule.name, meaning, groups.get("original") or "", rule.confidence), rule


def _scanned(tag: str, scanner: Scanner) -> bool:
    """Whether the built-in grammars find an example of *tag* as exactly one candidate."""
    text = sample(tag)
    if "{letter}" in tag or IN_INITIALS in tag:
        return any(candidate.literal.rstrip(".") == text.rstrip(".") for candidate in scanner.scan(text))
    return any((candidate.start, candidate.end) == (0, len(text)) for candidate in scanner.scan(text))


class KeptScans:
    """Candidates by text. What does not fit is not kept, and scanned again. Pickled it is empty: another process has its own."""

    def __init__(self, room: int = 16_000_000) -> None:  # code points of texts with their candidates: some 40 MB
        self._found: dict[str, list[TagCandidate]] = {}
        self._size = self._room = room
        self._scanner: Scanner | None = None

    def __reduce__(self) -> tuple[type[KeptScans], tuple[()]]:
        return KeptScans, ()

    def scan(self, text: str, scanner: Scanner) -> list[TagCandidate]:
        """Return the candidates that *scanner* finds in *text*, and keep them if there is room. One scanner is kept, the last."""
        if scanner is not self._scanner:
            self._found.clear()
            self._room, self._scanner = self._size, scanner
        found = list(scanner.scan(text))
        # What is made of a longer text takes all the space that there is; a candidate takes as much as 100 code points.
        if len(text) <= 100_000 and text not in self._found:
            self._room -= len(text) + 100 * len(found)
            if self._room > 0:
                self._found[text] = found
        return found

    def scan_of(self, scanner: Scanner) -> Callable[[str], Iterable[TagCandidate]]:
        """Return a function with the result of ``scanner.scan``, which takes what is kept for a text where that is sure to be the same."""
        if self._scanner is None or self._scanner.names != scanner.names:
            return scanner.scan
        told_apart = [f"{title} " for title in scanner.titles_unlike(self._scanner)]

        def scanned(text: str) -> Iterable[TagCandidate]:
            found = self._found.get(text)
            return scanner.scan(text) if found is None or any(title in text for title in told_apart) else found

        return scanned


UNSURE: Final = "too unsure to be used"
_LEAST: Final = 0.4  # below this confidence a tag is not used, whatever cues surround it


class Unknown(NamedTuple):
    """A span ``[start, end)`` that looks like a placeholder but is not used. ``why`` gives the reason, ``tag`` its pattern."""

    start: int
    end: int
    why: str
    tag: str = ""


class FoundTags(NamedTuple):
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
        self._verdict = remember(self._ruled)
        self._noted = {noted.tag for noted in self._mapping.unknown}
        self._left = {noted.tag for noted in self._mapping.left_alone}

    def find(self, text: str, where: str = "document") -> FoundTags:
        """Return the placeholders of *text*.

        With ``on_unknown="error"`` unknown placeholders raise ``DataError``; *where* names the document in its message.
        """
        found = FoundTags([], [], [])
        around = TagSurroundings(text)
        settling = Settling(text, self._cues, found.mentions)
        numbers: list[TagCandidate] = []
        lettered: list[tuple[TagCandidate, TagVerdict]] = []
        for candidate, own in self._own.merged(text, self._scan(text)) if self._own else zip(self._scan(text), repeat(None)):
            verdict, rule = own if own is not None else self._verdict(candidate)
            if verdict.status == "nothing":
                continue
            if verdict.status == "left" or ((rule is None or verdict.status == "unknown") and around.is_real(candidate, verdict)):
                found.left.append((candidate.start, candidate.end))
                if verdict.family == NUMBER:
                    numbers.append(candidate)
            elif verdict.status == "known":
                doubt = self._doubt(text, candidate, verdict) if rule is None else "" if rule.use else UNSURE
                if why := doubt or settling.place(candidate, verdict):
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
        self, settling: Settling, numbers: list[TagCandidate], lettered: list[tuple[TagCandidate, TagVerdict]], found: FoundTags
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

    def _ruled(self, grammar: Grammar, literal: str) -> tuple[TagVerdict, TagRule | None]:
        """Return the verdict on a candidate and the rule that applies to it, if any."""
        rule, verdict = self._rules.rule_of(literal, self._judge.judge_literal(grammar, literal))
        if rule is None and verdict.family in self._left:
            verdict = verdict._replace(status="left")
        elif rule is None and verdict.family in self._noted and verdict.status != "unknown":
            verdict = verdict._replace(status="unknown", why="listed as unknown in the mapping")
        return verdict, rule

    def _doubt(self, text: str, candidate: TagCandidate, verdict: TagVerdict) -> str:
        """Return the reason why a tag with a known meaning and without a rule must not be used, or "" if it may be."""
        if self._mapping.unlisted == "report":
            return "not in the mapping"
        unsure = UNTOLD if candidate.grammar.shape == "run" else UNSURE
        return "" if verdict.sure >= USE_FROM or self._is_told(text, candidate, verdict) else unsure

    def _is_told(self, text: str, candidate: TagCandidate, verdict: TagVerdict) -> bool:
        """Whether the text right beside an unsure tag without a rule confirms its kind, as in "(AGE) years old".

        Tags in lower case are never confirmed ("we [his wife] said"). Nor are tags below ``_LEAST``, such as long runs of "_", which
        are mostly forms to fill in.
        """
        meaning = verdict.meaning
        if meaning.role == "letter" or verdict.sure < _LEAST or candidate.literal != candidate.literal.upper():
            return False
        cue = self._cues.around(text, candidate.start, candidate.end, untold=meaning.kind == "generic")
        return cue is not None and cue.sure >= 1 and (meaning.context == "mention" or cue.kind == meaning.kind)

    def _unknown(self, candidate: TagCandidate, verdict: TagVerdict, why: str, found: FoundTags) -> None:
        start, end = candidate.start, candidate.end
        if self._on_unknown == "generic":
            role = candidate.literal.casefold()[:80]
            found.mentions.append(Mention(start, end, "generic", role=role, rule=verdict.family))
        found.unknown.append(Unknown(start, end, why, verdict.family))


def _refused(text: str, unknown: list[Unknown], where: str) -> DataError:
    """Return the error of a document with *unknown* placeholders, which says where the first of them are."""
    start, end, why, _ = unknown[0]
    places = ", ".join(f"{one.start} to {one.end}" for one in unknown[1:10])
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
