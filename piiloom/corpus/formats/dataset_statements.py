"""What is known about a release, as sentences for its dataset card and its Croissant description.

A sentence is there only if a figure warrants it. Sentences are plain text, in which names from the data (types, locales, models) are
passed through ``show`` first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from piiloom.corpus.formats.dataset_facts import COMPOSED, IMPORTED, UNSTATED, WRITTEN, DatasetFacts
from piiloom.corpus.record import TEST, TRAIN, VALIDATION
from piiloom.foundation.words import counted
from piiloom.taxonomy.entity_types import Taxonomy

_ONE_SIDED: Final = 0.95  # share of one relevance from which a type counts as nearly always high or low
_ENOUGH: Final = 20  # spans of a type that such a share needs
_RARE: Final = 30
_SHOWN: Final = 12
_DOMINANT: Final = 0.8  # share of one locale that is told as a bias, if there are others


def plain(text: str) -> str:
    """Return *text* unchanged: what ``show`` is where nothing needs to be escaped."""
    return text


@dataclass(frozen=True, slots=True)
class Statements:
    """The sentences about one release; see the module docstring."""

    facts: DatasetFacts
    taxonomy: Taxonomy
    show: Callable[[str], str] = plain

    def content(self) -> str:
        """Say what the dataset consists of."""
        labelled = self.facts.relevance["high"] + self.facts.relevance["low"]
        texts, spans = counted(self.facts.records, "text"), counted(self.facts.spans, "span")
        text = f"{texts} with {spans} of personal information, of {counted(len(self.facts.types), 'type')}"
        if not labelled:
            return f"{text}."
        share = _share(labelled, self.facts.spans)
        return f"{text}; {share} of the spans are labelled by whether they matter for answering a question (high) or not (low)."

    def collection(self) -> list[str]:
        """Say how the records came about, the most frequent way first."""
        return [
            f"{counted(count, 'record')} ({_share(count, self.facts.records)}) {self._made(phrase, one=count == 1)}."
            for phrase, count in self.facts.producers.most_common()
        ]

    def _made(self, phrase: str, *, one: bool) -> str:
        if phrase == UNSTATED:
            return f"{'is' if one else 'are'} {phrase}"
        ours = phrase.startswith((COMPOSED, IMPORTED))
        return f"{'was' if one else 'were'} {phrase if ours else self.show(phrase)}"

    def personal_information(self) -> list[str]:
        """Say whose information it is, and of what kinds."""
        made = self.facts.made_by(COMPOSED) + self.facts.made_by(WRITTEN)
        imported, unstated = self.facts.made_by(IMPORTED), self.facts.made_by(UNSTATED)
        found = []
        if made:
            whose = "All records are" if made == self.facts.records else f"{counted(made, 'record')} {'is' if made == 1 else 'are'}"
            found.append(f"{whose} about invented people; the values in them are drawn or written, not collected.")
        if self.facts.made_by(WRITTEN):
            found.append("Whether a language model repeated information of real people in what it wrote was not checked.")
        if imported:
            found.append(f"{counted(imported, 'record')} came from other data; whether the people in them are real is not stated.")
        if unstated:
            found.append(f"Of {counted(unstated, 'record')} it is not stated whether the people in them are real.")
        if self.facts.types:
            found.append(f"Marked kinds of information: {self._listed(self.facts.types.most_common())}.")
        return found

    def biases(self) -> list[str]:
        """Say what is over-represented: relevance within types, types, locales, one producer."""
        found = []
        sided: dict[str, list[str]] = {"high": [], "low": []}
        for name, counts in self.facts.relevance_by_type().items():
            labelled = counts["high"] + counts["low"]
            for side, names in sided.items():
                if labelled >= _ENOUGH and counts[side] / labelled >= _ONE_SIDED:
                    names.append(f"{self.show(name)} ({_share(counts[side], labelled)})")
        for side, names in sided.items():
            if names:
                found.append(f"Nearly always of {side} relevance, so that the type alone tells the label: {', '.join(names)}.")
        if self.facts.relevance["high"] + self.facts.relevance["low"]:
            labelled = self.facts.relevance["high"] + self.facts.relevance["low"]
            found.append(f"{_share(self.facts.relevance['high'], labelled)} of the labelled spans are of high relevance.")
        if len(self.facts.locales) > 1:
            locale, count = self.facts.locales.most_common(1)[0]
            if count / self.facts.records >= _DOMINANT:
                found.append(f"{_share(count, self.facts.records)} of the records are of the locale {self.show(locale)}.")
        if self.facts.made_by(COMPOSED):
            share = _share(self.facts.made_by(COMPOSED), self.facts.records)
            found.append(f"{share} of the records come from templates: the same sentences may occur with other values in them.")
        return found

    def limitations(self) -> list[str]:
        """Say what is not in the dataset or not known of it."""
        found = []
        if self.facts.locales:
            found.append(f"Only these locales occur: {self._listed(self.facts.locales.most_common(), most=40)}.")
        taxonomy = self.taxonomy
        absent = [name for name, one in taxonomy.types.items() if name not in self.facts.types and not one.own]
        if self.facts.types and absent:
            found.append(f"Types of piiloom's taxonomy without any span: {', '.join(absent)}.")
        rare = [(name, count) for name, count in self.facts.types.most_common() if count < _RARE]
        if rare:
            found.append(f"Types with fewer than {_RARE} spans: {self._listed(rare)}.")
        missing = [pair for pair in ("+".join(pair) for pair in taxonomy.pairs) if pair not in self.facts.pairs]
        if self.facts.pairs and missing:
            more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
            verb = "does" if len(missing) == 1 else "do"
            among = f"{len(missing)} of the {len(taxonomy.pairs)} pairs of types"
            found.append(f"{among} {verb} not occur: {', '.join(missing[:_SHOWN])}{more}.")
        if self.facts.relevance["none"]:
            found.append(f"{_share(self.facts.relevance['none'], self.facts.spans)} of the spans have no relevance label.")
        if TEST not in self.facts.splits and VALIDATION not in self.facts.splits and TRAIN in self.facts.splits:
            found.append("There is no split to test on.")
        return [*found, *self._shared(), *self._left_out()]

    def _shared(self) -> list[str]:
        found = []
        for split, figures in self.facts.leakage().items():
            seen = figures.get("open_values") or figures.get("values") or {}
            if seen.get("seen"):
                kind = "values of types whose values seldom repeat" if "open_values" in figures else "values"
                where = self.show(str(figures.get("against", TRAIN)))
                found.append(f"{_share(seen['seen'], seen['of'])} of the distinct {kind} in {self.show(split)} are in {where}, too.")
        return found

    def _left_out(self) -> list[str]:
        found = []
        withheld = self.facts.about.get("withheld") or []
        if withheld:
            found.append(f"{counted(len(withheld), 'record')} of the release {'is' if len(withheld) == 1 else 'are'} in no split.")
        loss = self.facts.about.get("loss") or {}
        if loss.get("fields"):
            found.append(f"The format does not keep: {', '.join(self.show(str(name)) for name in loss['fields'])}.")
        for reason, count in (loss.get("reasons") or {}).items():
            found.append(f"Lost in {counted(count, 'place')}: {self.show(str(reason))}.")
        return found

    def annotation(self) -> list[str]:
        """Say what checked the labels: people (by the status of the records) and judges."""
        found = []
        statuses = self.facts.about.get("statuses") or {}
        if statuses:
            found.append(f"Records by status: {self._listed(statuses.items())}.")
        found += [
            f"A model judged {counted(one['judged'], 'value')} ({self.show(str(one['kind']))}) and disagreed with the label of "
            f"{one['disagree']:,} ({_share(one['disagree'], one['judged'])}), in {counted(one['records'], 'record')}."
            for one in self.facts.about.get("judged") or []
        ]
        least = (self.facts.about.get("filters") or {}).get("min_agreement")
        if least is not None:
            found.append(f"Annotators agreed on at least {least:.0%} of the labels of every record; others were left out.")
        return found

    def use_cases(self) -> list[str]:
        """Say what the dataset can be used for, by what is labelled and which splits there are."""
        if not self.facts.spans:
            return []
        tasks = ["finding personal information in texts"]
        if self.facts.relevance["high"] and self.facts.relevance["low"]:
            tasks.append("telling which of it matters for answering a question")
        splits = set(self.facts.splits)
        verbs = [verb for verb, there in (("Training", {TRAIN} & splits), ("testing", {TEST, VALIDATION} & splits)) if there]
        return [f"{' and '.join(verbs) or 'Cross-validation'} of models for {' and '.join(tasks)}."]

    def maintenance(self) -> str:
        """Say which version this is and how another would come about."""
        digest = self.facts.content_sha256
        which = f"Version {self.show(self.facts.version)}" if self.facts.version else "A version is not stated"
        held = f" Its content has the SHA-256 {digest}." if digest and digest.isalnum() else ""
        return f"{which}. A release is frozen: corrections make a new one, with a version of its own.{held} A maintainer is not stated."

    def citation(self) -> str:
        """Return a BibTeX entry."""
        key = "".join(char for char in self.facts.name if char.isascii() and char.isalnum()) or "dataset"
        fields = {
            "title": self.facts.name,
            "version": self.facts.version,
            "note": f"Made with piiloom {self.facts.about.get('piiloom') or ''}".strip(),
        }
        lines = [f"  {name} = {{{_bibtex(value)}}}" for name, value in fields.items() if value]
        return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}"

    def _listed(self, counts: Iterable[tuple[str, int]], *, most: int = 100) -> str:
        shown = [f"{self.show(name)} ({count:,})" for name, count in counts]
        more = f", and {len(shown) - most} more" if len(shown) > most else ""
        return ", ".join(shown[:most]) + more


def _share(part: int, whole: int) -> str:
    """Return a percentage that is 0 or 100 only if it is so exactly."""
    if not whole:
        return "0%"
    share = 100 * part / whole
    if 0 < share < 1:
        return "less than 1%"
    return "more than 99%" if 99 < share < 100 else f"{share:.0f}%"


def _bibtex(value: str) -> str:
    return " ".join("".join(char for char in value if char not in '{}\\"`' and char.isprintable()).split())
