"""Survey a corpus: which placeholder patterns it has, how often, and which kinds the surrounding text suggests.

Surveys of parts of a corpus are merged in input order. Every partition gives the same mapping.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import islice
from typing import Any, Final

from piiloom.surrogates.placeholders.corpus_languages import SAMPLE, Ranking, ranked_by_tags, ranking_of
from piiloom.surrogates.placeholders.judging import Judge
from piiloom.surrogates.placeholders.kept_scans import KeptScans
from piiloom.surrogates.placeholders.learning import learn
from piiloom.surrogates.placeholders.mapping import Mapping
from piiloom.surrogates.placeholders.reading import Reader
from piiloom.surrogates.placeholders.scanning import Candidate, scanner_of
from piiloom.surrogates.placeholders.surroundings import Cues, Surroundings, cues
from piiloom.surrogates.placeholders.tallies import EXAMPLES, Seen, Tallies, excerpt
from piiloom.surrogates.placeholders.verdicts import Verdict
from piiloom.surrogates.placeholders.vocabulary import vocabulary

_MOST_KNOWN: Final = 20_000
_MOST_OTHERS: Final = 3_000
_LOOKED: Final = 20  # places of one pattern whose surroundings are examined, per document
_SURE_ENOUGH: Final = 0.8  # patterns as sure as this need no cues
_MOST_HELD: Final = 2**22  # code points of the first documents that are kept until the language is told
_UNRANKED: Final = Ranking()
_MOST_REMEMBERED: Final = 50_000
_LONGEST_REMEMBERED: Final = 80


class Survey:
    """Counts the patterns of texts. ``known``, ``unknown`` and ``left`` hold the tallies by status.

    What is scanned goes into *kept*, if it is given. A survey can be pickled: only the public attributes are, and the compiled patterns
    are rebuilt.
    """

    def __init__(self, ranking: Ranking = _UNRANKED, grammars: tuple[str, ...] | None = None, kept: KeptScans | None = None) -> None:
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
        self._cues: Cues = cues(languages)
        self._memo: dict[tuple[str, str], Verdict] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def add(self, text: str) -> None:
        """Count the patterns of one document."""
        self.documents += 1
        around = Surroundings(text)
        here: dict[tuple[str, str], Seen] = {}
        for candidate in self._scan(text):
            verdict = self._verdict(candidate)
            if verdict.status == "nothing":
                continue
            if verdict.status != "left" and around.is_real(candidate, verdict):
                verdict = verdict._replace(status="left")
            self._count(text, candidate, verdict, here)
        for (status, family), seen in here.items():
            self._of(status).take(family, seen)

    def _of(self, status: str) -> Tallies:
        return self.known if status == "known" else self.unknown if status == "unknown" else self.left

    def _count(self, text: str, candidate: Candidate, verdict: Verdict, here: dict[tuple[str, str], Seen]) -> None:
        status, family, meaning, _, sure, _, _ = verdict
        seen = here.get((status, family))
        if seen is None:
            wants_examples = self._of(status).wants_examples(family)
            seen = here[status, family] = Seen(verdict, candidate.grammar.name, sure, wants_examples)
        seen.count += 1
        seen.sure = max(seen.sure, sure)
        if seen.wants_examples and len(seen.examples) < EXAMPLES:
            seen.examples.append(excerpt(text, candidate.start, candidate.end))
        if (sure < _SURE_ENOUGH or meaning.context == "mention" or meaning.language) and status == "known" and seen.looked < _LOOKED:
            seen.looked += 1
            cue = self._cues.around(text, candidate.start, candidate.end, untold=meaning.kind == "generic")
            if cue is not None and cue.sure >= 1:
                seen.cued.append(cue.kind)

    def _verdict(self, candidate: Candidate) -> Verdict:
        key = (candidate.grammar.name, candidate.literal)
        verdict = self._memo.get(key)
        if verdict is None:
            verdict = self._judge.judge(candidate)
            if len(self._memo) < _MOST_REMEMBERED and len(candidate.literal) <= _LONGEST_REMEMBERED:
                self._memo[key] = verdict
        return verdict

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


def _surveyed(texts: Iterable[str], ranking: Ranking, kept: KeptScans | None) -> Survey:
    survey = Survey(ranking, kept=kept)
    for text in texts:
        survey.add(text)
    return survey


def auto_mapping(texts: Iterable[str], language: str = "") -> Mapping:
    """Survey *texts* and return the mapping; *language* (ISO 639-1) is theirs, if that is known."""
    return survey_of(texts, language).mapping()
