"""What is known about a release, as sentences for its dataset card and its Croissant description.

The source is the content of ``release.json``; keys that an older version lacks are unknown. A sentence is there only if a figure warrants
it. Sentences are plain text, in which names from the data (types, locales, models) are passed through ``show`` first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from piiloom.corpus.formats.base import Json
from piiloom.corpus.split_names import TEST, TRAIN, VALIDATION, in_order
from piiloom.foundation.counting import counted
from piiloom.taxonomy.entity_types import load_taxonomy

# How the phrases begin that ``releases.manifest.producer_of`` gives.
COMPOSED: Final = "composed by piiloom's composer"
WRITTEN: Final = "written through "
IMPORTED: Final = "imported"
UNSTATED: Final = "of unstated origin"

_ONE_SIDED: Final = 0.95  # share of one relevance from which a type counts as nearly always high or low
_ENOUGH: Final = 20  # spans of a type that such a share needs
_RARE: Final = 30
_SHOWN: Final = 12
_DOMINANT: Final = 0.8  # share of one locale that is told as a bias, if there are others

Show = Callable[[str], str]


def plain(text: str) -> str:
    """Return *text* unchanged: what ``show`` is where nothing needs to be escaped."""
    return text


@dataclass(frozen=True)
class DatasetFacts:
    """The facts of one release; see the module docstring. Counts are over all splits."""

    about: Mapping[str, Any]
    show: Show = plain

    @cached_property
    def records(self) -> int:
        """The number of records."""
        return sum(part.get("records", 0) for part in self.splits.values())

    @cached_property
    def spans(self) -> int:
        """The number of spans."""
        return sum(part.get("spans", 0) for part in self.splits.values())

    @cached_property
    def types(self) -> Counter[str]:
        """The spans by type."""
        return self._counts("types")

    @cached_property
    def relevance(self) -> Counter[str]:
        """The spans by relevance: high, low, none."""
        return self._counts("relevance")

    @cached_property
    def pairs(self) -> Counter[str]:
        """The records by pair of types ("health+occupation"); imported ones have none."""
        return self._counts("pairs")

    @cached_property
    def locales(self) -> Counter[str]:
        """The records by locale."""
        return self._counts("locales")

    @cached_property
    def producers(self) -> Counter[str]:
        """The records by producer, a phrase that follows a count."""
        return self._counts("producers")

    def _counts(self, name: str) -> Counter[str]:
        return sum((Counter(part.get(name, {})) for part in self.splits.values()), Counter[str]())

    @property
    def name(self) -> str:
        """The name of the release."""
        return str(self.about.get("name") or "dataset")

    @property
    def version(self) -> str | None:
        """Its version, if one is stated."""
        return _text(self.about.get("version"))

    @property
    def license(self) -> str | None:
        """Its licence, if one is stated: an SPDX identifier or any text."""
        return _text(self.about.get("license"))

    @property
    def splits(self) -> Mapping[str, Mapping[str, Any]]:
        """The counts of each split, in the order of splits."""
        splits = self.about.get("splits") or {}
        return {name: splits[name] for name in in_order(splits)}

    def files(self) -> dict[str, str]:
        """Return the file of each split, in the order of splits."""
        told: Mapping[str, Mapping[str, Any]] = self.about.get("files") or {}
        by_split = {str(entry["split"]): name for name, entry in told.items() if entry.get("split")}
        return {split: by_split[split] for split in in_order(by_split)}

    def languages(self) -> list[str]:
        """Return the language codes of the locales ("en" of "en_US"), sorted; locales of another form have none."""
        heads = {locale.replace("-", "_").partition("_")[0] for locale in self.locales}
        return sorted(head for head in heads if head.isascii() and head.isalpha() and head.islower() and 2 <= len(head) <= 3)

    def relevance_by_type(self) -> dict[str, Counter[str]]:
        """Return the counts of high, low and none by type; empty if the release does not state them."""
        found: dict[str, Counter[str]] = {}
        for part in self.splits.values():
            for name, counts in (part.get("relevance_by_type") or {}).items():
                found.setdefault(name, Counter()).update(counts)
        return found

    def made_by(self, beginning: str) -> int:
        """Return the number of records whose producer's phrase begins so (``COMPOSED``, ``WRITTEN`` …)."""
        return sum(count for phrase, count in self.producers.items() if phrase.startswith(beginning))

    def content(self) -> str:
        """Say what the dataset consists of."""
        labelled = self.relevance["high"] + self.relevance["low"]
        texts, spans = counted(self.records, "text"), counted(self.spans, "span")
        text = f"{texts} with {spans} of personal information, of {counted(len(self.types), 'type')}"
        if not labelled:
            return f"{text}."
        share = _share(labelled, self.spans)
        return f"{text}; {share} of the spans are labelled by whether they matter for answering a question (high) or not (low)."

    def collection(self) -> list[str]:
        """Say how the records came about, the most frequent way first."""
        return [
            f"{counted(count, 'record')} ({_share(count, self.records)}) {self._made(phrase, one=count == 1)}."
            for phrase, count in self.producers.most_common()
        ]

    def _made(self, phrase: str, *, one: bool) -> str:
        if phrase == UNSTATED:
            return f"{'is' if one else 'are'} {phrase}"
        ours = phrase.startswith((COMPOSED, IMPORTED))
        return f"{'was' if one else 'were'} {phrase if ours else self.show(phrase)}"

    def collection_types(self) -> list[str]:
        """Return the ways of collecting, by the words that the RAI vocabulary recommends."""
        made = self.made_by(COMPOSED) + self.made_by(WRITTEN)
        return (["Software Collection"] if made else []) + (["Secondary Data analysis"] if self.made_by(IMPORTED) else [])

    def personal_information(self) -> list[str]:
        """Say whose information it is, and of what kinds."""
        made, imported, unstated = self.made_by(COMPOSED) + self.made_by(WRITTEN), self.made_by(IMPORTED), self.made_by(UNSTATED)
        found = []
        if made:
            whose = "All records are" if made == self.records else f"{counted(made, 'record')} {'is' if made == 1 else 'are'}"
            found.append(f"{whose} about invented people; the values in them are drawn or written, not collected.")
        if self.made_by(WRITTEN):
            found.append("Whether a language model repeated information of real people in what it wrote was not checked.")
        if imported:
            found.append(f"{counted(imported, 'record')} came from other data; whether the people in them are real is not stated.")
        if unstated:
            found.append(f"Of {counted(unstated, 'record')} it is not stated whether the people in them are real.")
        if self.types:
            found.append(f"Marked kinds of information: {self._listed(self.types.most_common())}.")
        return found

    def biases(self) -> list[str]:
        """Say what is over-represented: relevance within types, types, locales, one producer."""
        found = []
        sided: dict[str, list[str]] = {"high": [], "low": []}
        for name, counts in self.relevance_by_type().items():
            labelled = counts["high"] + counts["low"]
            for side, names in sided.items():
                if labelled >= _ENOUGH and counts[side] / labelled >= _ONE_SIDED:
                    names.append(f"{self.show(name)} ({_share(counts[side], labelled)})")
        for side, names in sided.items():
            if names:
                found.append(f"Nearly always of {side} relevance, so that the type alone tells the label: {', '.join(names)}.")
        if self.relevance["high"] + self.relevance["low"]:
            labelled = self.relevance["high"] + self.relevance["low"]
            found.append(f"{_share(self.relevance['high'], labelled)} of the labelled spans are of high relevance.")
        if len(self.locales) > 1:
            locale, count = self.locales.most_common(1)[0]
            if count / self.records >= _DOMINANT:
                found.append(f"{_share(count, self.records)} of the records are of the locale {self.show(locale)}.")
        if self.made_by(COMPOSED):
            share = _share(self.made_by(COMPOSED), self.records)
            found.append(f"{share} of the records come from templates: the same sentences may occur with other values in them.")
        return found

    def limitations(self) -> list[str]:
        """Say what is not in the dataset or not known of it."""
        found = []
        if self.locales:
            found.append(f"Only these locales occur: {self._listed(self.locales.most_common(), most=40)}.")
        taxonomy = load_taxonomy()
        absent = [name for name, one in taxonomy.types.items() if name not in self.types and not one.own]
        if self.types and absent:
            found.append(f"Types of piiloom's taxonomy without any span: {', '.join(absent)}.")
        rare = [(name, count) for name, count in self.types.most_common() if count < _RARE]
        if rare:
            found.append(f"Types with fewer than {_RARE} spans: {self._listed(rare)}.")
        missing = [pair for pair in ("+".join(pair) for pair in taxonomy.pairs) if pair not in self.pairs]
        if self.pairs and missing:
            more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
            found.append(
                f"{len(missing)} of {counted(len(taxonomy.pairs), 'pair')} of types do not occur: {', '.join(missing[:_SHOWN])}{more}."
            )
        if self.relevance["none"]:
            found.append(f"{_share(self.relevance['none'], self.spans)} of the spans have no relevance label.")
        if TEST not in self.splits and VALIDATION not in self.splits and TRAIN in self.splits:
            found.append("There is no split to test on.")
        return [*found, *self._shared(), *self._left_out()]

    def _shared(self) -> list[str]:
        found = []
        for split, figures in self.leakage().items():
            seen = figures.get("open_values") or figures.get("values") or {}
            if seen.get("seen"):
                kind = "values of types whose values seldom repeat" if "open_values" in figures else "values"
                where = self.show(str(figures.get("against", TRAIN)))
                found.append(f"{_share(seen['seen'], seen['of'])} of the distinct {kind} in {self.show(split)} are in {where}, too.")
        return found

    def _left_out(self) -> list[str]:
        found = []
        withheld = self.about.get("withheld") or []
        if withheld:
            found.append(f"{counted(len(withheld), 'record')} of the release {'is' if len(withheld) == 1 else 'are'} in no split.")
        loss = self.about.get("loss") or {}
        if loss.get("fields"):
            found.append(f"The format does not keep: {', '.join(self.show(str(name)) for name in loss['fields'])}.")
        for reason, count in (loss.get("reasons") or {}).items():
            found.append(f"Lost in {counted(count, 'place')}: {self.show(str(reason))}.")
        return found

    def leakage(self) -> dict[str, Mapping[str, Any]]:
        """Return the figures of each split that was compared with another; empty if none is stated."""
        told = self.about.get("leakage") or {}
        return {name: told[name] for name in in_order(told) if isinstance(told[name], dict)}

    def annotation(self) -> list[str]:
        """Say what checked the labels: people (by the status of the records) and judges."""
        found = []
        statuses = self.about.get("statuses") or {}
        if statuses:
            found.append(f"Records by status: {self._listed(statuses.items())}.")
        found += [
            f"A model judged {counted(one['judged'], 'value')} ({self.show(str(one['kind']))}) and disagreed with the label of "
            f"{one['disagree']:,} ({_share(one['disagree'], one['judged'])}), in {counted(one['records'], 'record')}."
            for one in self.about.get("judged") or []
        ]
        least = (self.about.get("filters") or {}).get("min_agreement")
        if least is not None:
            found.append(f"Annotators agreed on at least {least:.0%} of the labels of every record; others were left out.")
        return found

    def use_cases(self) -> list[str]:
        """Say what the dataset can be used for, by what is labelled and which splits there are."""
        if not self.spans:
            return []
        tasks = ["finding personal information in texts"]
        if self.relevance["high"] and self.relevance["low"]:
            tasks.append("telling which of it matters for answering a question")
        verbs = [verb for verb, there in (("Training", TRAIN in self.splits), ("testing", {TEST, VALIDATION} & set(self.splits))) if there]
        return [f"{' and '.join(verbs) or 'Cross-validation'} of models for {' and '.join(tasks)}."]

    def maintenance(self) -> str:
        """Say which version this is and how another would come about."""
        digest = _text(self.about.get("content_sha256"))
        which = f"Version {self.show(self.version)}" if self.version else "A version is not stated"
        held = f" Its content has the SHA-256 {digest}." if digest and digest.isalnum() else ""
        return f"{which}. A release is frozen: corrections make a new one, with a version of its own.{held} A maintainer is not stated."

    def citation(self) -> str:
        """Return a BibTeX entry."""
        key = "".join(char for char in self.name if char.isascii() and char.isalnum()) or "dataset"
        fields = {"title": self.name, "version": self.version, "note": f"Made with piiloom {self.about.get('piiloom') or ''}".strip()}
        lines = [f"  {name} = {{{_bibtex(value)}}}" for name, value in fields.items() if value]
        return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}"

    def _listed(self, counts: Iterable[tuple[str, int]], *, most: int = 100) -> str:
        shown = [f"{self.show(name)} ({count:,})" for name, count in counts]
        more = f", and {len(shown) - most} more" if len(shown) > most else ""
        return ", ".join(shown[:most]) + more


def settings_of(about: Json) -> dict[str, object]:
    """Return the settings that make the release again, flat, those that are not set left out."""
    told: dict[str, object] = {}
    for group in ("settings", "filters"):
        values = about.get(group)
        if isinstance(values, dict):
            told |= {name: value for name, value in values.items() if name != "left_out" and value not in (None, False, "", [], {})}
    for name in ("seed", "test_size", "status"):
        if name not in told and about.get(name) is not None:
            told[name] = about[name]
    return told


def _share(part: int, whole: int) -> str:
    """Return a percentage that is 0 or 100 only if it is so exactly."""
    if not whole:
        return "0%"
    share = 100 * part / whole
    if 0 < share < 1:
        return "less than 1%"
    return "more than 99%" if 99 < share < 100 else f"{share:.0f}%"


def _text(value: object) -> str | None:
    return str(value) if value not in (None, "") else None


def _bibtex(value: str) -> str:
    return " ".join("".join(char for char in value if char not in '{}\\"`' and char.isprintable()).split())
