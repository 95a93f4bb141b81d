"""Turn the tallies of a survey into a mapping: compute each rule's confidence and decide what is reported as unknown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from piiloom.surrogates.placeholders.cautions import foreign_cautions
from piiloom.surrogates.placeholders.corpus_languages import Ranking
from piiloom.surrogates.placeholders.families import IN_INITIALS
from piiloom.surrogates.placeholders.form_verdicts import DOTTED, PAIR
from piiloom.surrogates.placeholders.grammar_patterns import TITLED
from piiloom.surrogates.placeholders.letter_people import LETTER, LETTER_KINDS
from piiloom.surrogates.placeholders.mapping import USE_FROM, Context, Mapping, Noted, Rule
from piiloom.surrogates.placeholders.scanning import ROLE_LETTER
from piiloom.surrogates.placeholders.tallies import Tallies, Tally
from piiloom.surrogates.placeholders.verdicts import MASK
from piiloom.surrogates.placeholders.whole_families import whole_families

_OFTEN: Final = 3
_OFTEN_LOWER: Final = 5  # a lower-case word in brackets with at least this count is reported as unknown
_CUE_WEIGHT: Final = 0.4
_FEW_DOCUMENTS: Final = 0.03
_MOST_NOTED: Final = 500
_LOWER_WORD: Final = re.compile(r"\[[^\W\d_]{5,}(?: [^\W\d_]+){0,2}\]")
_TITLED_MORE: Final = 0.15  # where people are named by titles and letters, a letter alone is more likely one of them
_BESIDE: Final = {"square": PAIR, DOTTED: TITLED}  # "[K]" beside "[B] [K]", "Jean X..." beside "M. X..."
_LEAST_SHARE: Final = 0.5
_SURE_RUN: Final = 0.85
_FOREIGN: Final = 0.4  # the confidence in a word of a language that nothing else in the corpus is in
_INITIALS_ALONE: Final = 0.4  # the confidence in initials ("J. L. M.") where nobody is named by a single letter


def learn(known: Tallies, unknown: Tallies, left: Tallies, *, ranking: Ranking, grammars: tuple[str, ...] | None) -> Mapping:
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


def _supported(tallies: Iterable[Tally]) -> frozenset[str]:
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


def _noted(family: str, tally: Tally, why: str) -> Noted:
    return Noted(tag=family, count=tally.count, documents=tally.documents, why=why, examples=tuple(tally.examples))


def _is_word(family: str, tally: Tally) -> bool:
    return tally.grammar == "square" and bool(_LOWER_WORD.fullmatch(family))


def _is_letter(family: str, tally: Tally) -> bool:
    """Whether the places of *tally* name people by single letters; initials may be those of a name that was never redacted."""
    return (tally.grammar in {TITLED, ROLE_LETTER} and IN_INITIALS not in family) or tally.verdict.meaning.role == "letter"


def _rule(family: str, tally: Tally, *, titled: frozenset[str], supported: frozenset[str], lettered: bool) -> Rule:
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
    return Rule(
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


def _commonest(tally: Tally, kind: str) -> str:
    cues = {name: count for name, count in tally.cues.items() if name in LETTER_KINDS}  # "née [Z]" is no birth date
    most = max(cues.values(), default=0)
    return kind if not most or cues.get(kind) == most else min(name for name, count in cues.items() if count == most)


def _confidence(tally: Tally, *, titled: frozenset[str]) -> float:
    """Return the confidence (at most 0.99) of form and words, raised by how often the surrounding text confirms the kind.

    For a letter in brackets the share of documents with a cue counts, because one clear place settles a document. For all other
    tags it is the share of places.
    """
    meaning = tally.verdict.meaning
    sure = tally.sure
    if meaning.role == LETTER:
        sure += _CUE_WEIGHT * min(1.0, sum(tally.cues.values()) / (tally.documents + 1)) + _TITLED_MORE * (
            _BESIDE.get(tally.grammar) in titled
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
