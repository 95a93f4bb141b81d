"""The survey of a corpus: tallies of its tags with a few examples, and the rules learnt from them.

Surveys of parts of a corpus are merged in input order. Every partition gives the same mapping.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Final

from piiloom.foundation.repeated_ids import text_hash
from piiloom.surrogates.placeholders.finder import KeptScans
from piiloom.surrogates.placeholders.grammar import IN_INITIALS, TITLED
from piiloom.surrogates.placeholders.judging import DOTTED, PAIR, Judge
from piiloom.surrogates.placeholders.mapping import USE_FROM, Context, Mapping, Noted, TagRule, foreign_cautions, whole_families
from piiloom.surrogates.placeholders.reading import MASK, Reader, TagVerdict
from piiloom.surrogates.placeholders.scanning import (
    ROLE_LETTER,
    SAMPLE,
    LanguageRanking,
    TagCandidate,
    ranked_by_tags,
    ranking_of,
    scanner_of,
)
from piiloom.surrogates.placeholders.surroundings import LETTER, LETTER_KINDS, TagCues, TagSurroundings, cues
from piiloom.surrogates.placeholders.vocabulary import vocabulary

EXAMPLES: Final = 5
_CONTEXT: Final = 30  # characters of context on each side of an example


@dataclass(slots=True)
class TagTally:
    """The counts of one pattern.

    By kind of value, ``cues`` counts the documents and ``cued`` the places where the surrounding text suggests that kind. ``looked`` is
    the number of places examined. ``sure`` is the highest confidence seen.
    """

    verdict: TagVerdict
    grammar: str
    count: int = 0
    documents: int = 0
    sure: float = 0.0
    examples: list[str] = field(default_factory=list)
    cues: Counter[str] = field(default_factory=Counter)
    cued: Counter[str] = field(default_factory=Counter)
    looked: int = 0

    def take(self, seen: SeenTag) -> None:
        """Add what one later document has."""
        self._add(seen, documents=1)
        if seen.cued:
            self.cues.update(set(seen.cued))

    def absorb(self, later: TagTally) -> None:
        """Add the counts of *later* documents."""
        self._add(later, documents=later.documents)
        self.cues.update(later.cues)

    def _add(self, later: TagTally | SeenTag, *, documents: int) -> None:
        self.count += later.count
        self.documents += documents
        self.sure = max(self.sure, later.sure)
        self.looked += later.looked
        if later.examples:
            self.examples = [*self.examples, *(e for e in later.examples if e not in self.examples)][:EXAMPLES]
        if later.cued:
            self.cued.update(later.cued)


@dataclass(slots=True)
class SeenTag:
    """What one document has of one pattern. ``cued`` are the kinds that the surroundings of ``looked`` places suggest."""

    verdict: TagVerdict
    grammar: str
    sure: float
    wants_examples: bool = True
    count: int = 0
    looked: int = 0
    examples: tuple[str, ...] = ()
    cued: tuple[str, ...] = ()


class Tallies:
    """Tallies by pattern, limited to *most* patterns.

    If a corpus has more, the patterns with the smallest hashes are kept (bottom-k sampling). So the same ones remain, with exact
    counts, whatever the order of documents and merges. ``total`` counts all places, ``dropped`` those of the other patterns.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = 1 << 64
        self.by_family: dict[str, TagTally] = {}
        self.total = 0

    def kept(self) -> dict[str, TagTally]:
        """Return the tallies by pattern after cutting them down to the limit; the same for every partition of the corpus."""
        self._shrink()
        return self.by_family

    @property
    def dropped(self) -> int:
        """The number of places whose pattern is not kept."""
        return self.total - sum(tally.count for tally in self.kept().values())

    def wants_examples(self, family: str) -> bool:
        """Whether *family* has fewer examples than are kept."""
        known = self.by_family.get(family)
        return known is None or len(known.examples) < EXAMPLES

    def take(self, family: str, seen: SeenTag) -> None:
        """Add what one later document has."""
        known = self.by_family.get(family)
        if known is None:
            new = TagTally(seen.verdict._replace(original=""), seen.grammar)
            new.take(seen)
            self.add(family, new)
        else:
            self.total += seen.count
            known.take(seen)

    def add(self, family: str, tally: TagTally) -> None:
        """Add *tally*, which comes from a survey of later documents."""
        self.total += tally.count
        self._put(family, tally)

    def merge(self, later: Tallies) -> None:
        """Add the tallies of later documents."""
        self.total += later.total
        self._limit = min(self._limit, later._limit)
        for family, tally in later.by_family.items():
            self._put(family, tally)
        self._shrink()

    def _put(self, family: str, tally: TagTally) -> None:
        known = self.by_family.get(family)
        if known is not None:
            known.absorb(tally)
        elif self._limit == 1 << 64 or text_hash(family) < self._limit:
            self.by_family[family] = tally
            if len(self.by_family) > 2 * self._most:
                self._shrink()

    def _shrink(self) -> None:
        if len(self.by_family) <= self._most and self._limit == 1 << 64:
            return
        hashed = {family: text_hash(family) for family in self.by_family}
        if len(hashed) > self._most:
            self._limit = min(self._limit, sorted(hashed.values())[self._most])
        self.by_family = {family: tally for family, tally in self.by_family.items() if hashed[family] < self._limit}


def excerpt(text: str, start: int, end: int) -> str:
    """Return ``text[start:end]`` with a little context on both sides, on one line."""
    first, last = max(0, start - _CONTEXT), min(len(text), end + _CONTEXT)
    return f"{'…' if first else ''}{' '.join(text[first:last].split())}{'…' if last < len(text) else ''}"


_OFTEN: Final = 3
_OFTEN_LOWER: Final = 5  # a lower-case word in brackets with at least this count is reported as unknown
_CUE_WEIGHT: Final = 0.4
_FEW_DOCUMENTS: Final = 0.03
_MOST_NOTED: Final = 500
_LOWER_WORD: Final = re.compile(r"\[[^\W\d_]{5,}(?: [^\W\d_]+){0,2}\]")
_TITLED_MORE: Final = 0.15  # where people are named by titles and letters, a letter alone is more likely one of them
_NEIGHBOURS: Final = {"square": PAIR, DOTTED: TITLED}  # "[K]" beside "[B] [K]", "Jean X..." beside "M. X..."
_LEAST_SHARE: Final = 0.5
_SURE_RUN: Final = 0.85
_FOREIGN: Final = 0.4  # the confidence in a word of a language that nothing else in the corpus is in
_INITIALS_ALONE: Final = 0.4  # the confidence in initials ("J. L. M.") where nobody is named by a single letter


def learn(known: Tallies, unknown: Tallies, left: Tallies, *, ranking: LanguageRanking, grammars: tuple[str, ...] | None) -> Mapping:
    """Return the mapping, with rules by descending count. Rules with a confidence below ``USE_FROM`` get ``use=False``."""
    titled = frozenset(tally.grammar for tally in known.kept().values()) & {TITLED, PAIR}
    supported = _supported(known.kept().values())
    letters = sum(tally.count for family, tally in known.kept().items() if _is_letter(family, tally))
    found = [_rule(family, tally, titled=titled, supported=supported, lettered=letters >= _OFTEN) for family, tally in known.kept().items()]
    rules = tuple(sorted(whole_families(found), key=lambda rule: (-rule.count, rule.tag)))
    # In a language that no vocabulary has, each word in brackets is listed.
    least = 1 if ranking.unread else _OFTEN_LOWER
    often = {family: tally for family, tally in left.kept().items() if tally.count >= least and _is_word(family, tally)}
    strange = [_noted(family, tally, tally.verdict.why) for family, tally in unknown.kept().items()]
    strange += [_noted(family, tally, "often in brackets") for family, tally in often.items()]
    real = [_noted(family, tally, tally.verdict.why) for family, tally in left.kept().items() if family not in often]
    return Mapping(
        rules=rules,
        unknown=_by_count(strange),
        left_alone=_by_count(real),
        grammars=grammars,
        languages=tuple(name for name in ranking.languages if not ranking.home or name in ranking.home or name in supported),
        cautions=foreign_cautions(rules),
    )


def _supported(tallies: Iterable[TagTally]) -> frozenset[str]:
    """Return the languages, of those that the texts are not in, of which tags with at least two meanings were found.

    One word alone may be a chance: "@CAPS1" (a word in capitals) is an Italian postcode.
    """
    meanings: dict[str, set[tuple[str, str, str]]] = {}
    for tally in tallies:
        meaning = tally.verdict.meaning
        if meaning.language and tally.grammar != TITLED:
            meanings.setdefault(meaning.language, set()).add((meaning.kind, meaning.role, meaning.form))
    return frozenset(language for language, found in meanings.items() if len(found) > 1)


def _by_count(noted: Iterable[Noted]) -> tuple[Noted, ...]:
    return tuple(sorted(noted, key=lambda entry: (-entry.count, entry.tag))[:_MOST_NOTED])


def _noted(family: str, tally: TagTally, why: str) -> Noted:
    return Noted(tag=family, count=tally.count, documents=tally.documents, why=why, examples=tuple(tally.examples))


def _is_word(family: str, tally: TagTally) -> bool:
    return tally.grammar == "square" and bool(_LOWER_WORD.fullmatch(family))


def _is_letter(family: str, tally: TagTally) -> bool:
    """Whether the places of *tally* name people by single letters; initials may be those of a name that was never redacted."""
    return (tally.grammar in {TITLED, ROLE_LETTER} and IN_INITIALS not in family) or tally.verdict.meaning.role == "letter"


def _rule(family: str, tally: TagTally, *, titled: frozenset[str], supported: frozenset[str], lettered: bool) -> TagRule:
    meaning = tally.verdict.meaning
    confidence = round(_confidence(tally, titled=titled), 2)
    if IN_INITIALS in family and not lettered:
        confidence = min(confidence, _INITIALS_ALONE)
    told = tally.cued[meaning.kind] and tally.grammar != TITLED  # a title is its own cue
    if meaning.language and meaning.language not in supported and not told:
        confidence = min(confidence, _FOREIGN)
    token = any(one in family for one in ("{index}", "{letter}", "{hash}"))
    kind = meaning.kind
    if meaning.role == LETTER:
        kind = _commonest(tally, kind)
    return TagRule(
        tag=family,
        kind=kind,
        role=meaning.role,
        index="" if token else meaning.index,
        same=meaning.same,
        form="" if meaning.role == MASK else meaning.form,  # a mask's form is its own text
        gender=meaning.gender,
        plural=meaning.plural,
        context=_context(meaning.context),
        use=confidence >= USE_FROM,
        confidence=confidence,
        language=meaning.language,
        runner_up=meaning.runner_up,
        count=tally.count,
        documents=tally.documents,
        examples=tuple(tally.examples),
    )


def _context(text: str) -> Context:
    return text if text in {"mention", "document"} else ""  # type: ignore[return-value]


def _commonest(tally: TagTally, kind: str) -> str:
    cues = {name: count for name, count in tally.cues.items() if name in LETTER_KINDS}  # "née [Z]" is no birth date
    most = max(cues.values(), default=0)
    return kind if not most or cues.get(kind) == most else min(name for name, count in cues.items() if count == most)


def _confidence(tally: TagTally, *, titled: frozenset[str]) -> float:
    """Return the confidence (at most 0.99) of form and words, raised by how often the surrounding text confirms the kind.

    For a letter in brackets the share of documents with a cue counts, because one clear place settles a document. For all other
    tags it is the share of places.
    """
    meaning = tally.verdict.meaning
    sure = tally.sure
    if meaning.role == LETTER:
        sure += _CUE_WEIGHT * min(1.0, sum(tally.cues.values()) / (tally.documents + 1)) + _TITLED_MORE * (
            _NEIGHBOURS.get(tally.grammar) in titled
        )
    elif tally.looked:
        told = sum(tally.cued.values()) if meaning.context == "mention" else tally.cued[meaning.kind]
        share = told / tally.looked
        sure += _CUE_WEIGHT * share
        if meaning.role == "letters":
            sure += 0.1 * (TITLED in titled)
        elif meaning.context == "mention" and sure < _SURE_RUN and share < _LEAST_SHARE:
            sure = min(sure, USE_FROM - 0.01)  # most blanks have no cue beside them, so they are probably forms to fill in
        elif meaning.context != "mention" and tally.count >= _OFTEN:
            sure += 0.1
    if tally.documents >= _OFTEN and sure >= USE_FROM:
        sure += _FEW_DOCUMENTS
    return min(0.99, sure)


_MOST_KNOWN: Final = 20_000
_MOST_OTHERS: Final = 3_000
_LOOKED: Final = 20  # places of one pattern whose surroundings are examined, per document
_SURE_ENOUGH: Final = 0.8  # patterns as sure as this need no cues
_MOST_HELD: Final = 2**22  # code points of the first documents that are kept until the language is told
_UNRANKED: Final = LanguageRanking()


class Survey:
    """Counts the patterns of texts. ``known``, ``unknown`` and ``left`` hold the tallies by status.

    What is scanned goes into *kept*, if it is given. A survey can be pickled: only the public attributes are, and the compiled patterns
    are rebuilt.
    """

    def __init__(
        self, ranking: LanguageRanking = _UNRANKED, grammars: tuple[str, ...] | None = None, kept: KeptScans | None = None
    ) -> None:
        self.ranking = ranking
        self.grammars = grammars
        self.documents = 0
        self.known = Tallies(_MOST_KNOWN)
        self.unknown = Tallies(_MOST_OTHERS)
        self.left = Tallies(_MOST_OTHERS)
        self._prepare(kept)

    def _prepare(self, kept: KeptScans | None = None) -> None:
        languages, home = self.ranking.languages, self.ranking.home
        self._scanner = scanner_of(self.grammars, languages)
        self._scan = self._scanner.scan if kept is None else partial(kept.scan, scanner=self._scanner)
        self._judge = Judge(Reader(vocabulary(languages), home), self._scanner)
        self._cues: TagCues = cues(languages)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def add(self, text: str) -> None:
        """Count the patterns of one document."""
        self.documents += 1
        around = TagSurroundings(text)
        here: dict[tuple[str, str], SeenTag] = {}
        for candidate in self._scan(text):
            verdict = self._judge.judge(candidate)
            if verdict.status == "nothing":
                continue
            if verdict.status != "left" and around.is_real(candidate, verdict):
                verdict = verdict._replace(status="left")
            self._count(text, candidate, verdict, here)
        for (status, family), seen in here.items():
            self._of(status).take(family, seen)

    def _of(self, status: str) -> Tallies:
        return self.known if status == "known" else self.unknown if status == "unknown" else self.left

    def _count(self, text: str, candidate: TagCandidate, verdict: TagVerdict, here: dict[tuple[str, str], SeenTag]) -> None:
        status, family, meaning, _, sure, _, _ = verdict
        seen = here.get((status, family))
        if seen is None:
            wants_examples = self._of(status).wants_examples(family)
            seen = here[status, family] = SeenTag(verdict, candidate.grammar.name, sure, wants_examples)
        seen.count += 1
        seen.sure = max(seen.sure, sure)
        if seen.wants_examples and len(seen.examples) < EXAMPLES:
            seen.examples += (excerpt(text, candidate.start, candidate.end),)
        if (sure < _SURE_ENOUGH or meaning.context == "mention" or meaning.language) and status == "known" and seen.looked < _LOOKED:
            seen.looked += 1
            cue = self._cues.around(text, candidate.start, candidate.end, untold=meaning.kind == "generic")
            if cue is not None and cue.sure >= 1:
                seen.cued += (cue.kind,)

    def merge(self, later: Survey) -> None:
        """Add the counts of a survey of later documents."""
        self.documents += later.documents
        self.known.merge(later.known)
        self.unknown.merge(later.unknown)
        self.left.merge(later.left)

    def mapping(self) -> Mapping:
        """Return the mapping learned so far."""
        return learn(self.known, self.unknown, self.left, ranking=self.ranking, grammars=self.grammars)


def survey_of(texts: Iterable[str], language: str = "", kept: KeptScans | None = None) -> Survey:
    """Survey *texts*; the first ``SAMPLE`` of them tell which languages rank first, with the *language* that their owner gives.

    What is scanned goes into *kept*, if it is given.
    """
    rest = iter(texts)
    sample: list[str] = []
    held = 0
    for text in islice(rest, SAMPLE):
        sample.append(text)
        held += len(text)
        if held > _MOST_HELD:
            break
    ranking = ranking_of(sample, language)
    survey = _surveyed(sample, ranking, kept)
    foreign = [family for family, tally in survey.known.kept().items() if tally.verdict.meaning.language]
    again = ranked_by_tags(ranking, foreign) if foreign else ranking
    if again != ranking:
        survey = _surveyed(sample, again, kept)
    for text in rest:
        survey.add(text)
    return survey


def _surveyed(texts: Iterable[str], ranking: LanguageRanking, kept: KeptScans | None) -> Survey:
    survey = Survey(ranking, kept=kept)
    for text in texts:
        survey.add(text)
    return survey


def auto_mapping(texts: Iterable[str], language: str = "") -> Mapping:
    """Survey *texts* and return the mapping; *language* (ISO 639-1) is theirs, if that is known."""
    return survey_of(texts, language).mapping()
