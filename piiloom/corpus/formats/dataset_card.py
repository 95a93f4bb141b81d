"""The card of an exported dataset: the README.md of a Hugging Face dataset, a YAML header and Markdown; and the sentences in it.

The header says how ``datasets`` loads the files. The text is made of ``Statements``, which the Croissant description has, too. A sentence
is there only if a figure of the release warrants it; where something is not known the card says "not stated", and with which command it is.
Sentences are plain text, in which names from the data (types, locales, models) are passed through ``show`` first; in the card they are
escaped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from piiloom.corpus.formats.base import Json
from piiloom.corpus.record import TEST, TRAIN, VALIDATION, in_order
from piiloom.foundation.words import counted, escaped
from piiloom.taxonomy.entity_types import Taxonomy

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
_SPDX: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_PLAIN: Final = re.compile(r"(?!www\.)[A-Za-z0-9]+(?:[ _.-][A-Za-z0-9]+)*")
_SIZES: Final = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))
_LARGEST: Final = "10M<n<100M"


def card_text(about: Json, features_yaml: Json, taxonomy: Taxonomy) -> str:
    """Return the card of a release.

    *about* is the content of ``release.json``; *features_yaml* is the value of ``dataset_info`` in the header: ``features`` as
    ``datasets`` writes them, to which the splits are added if it has none.
    """
    facts = DatasetFacts(about)
    return f"---\n{_header(facts, features_yaml)}---\n\n{_body(facts, taxonomy)}"


def in_markdown(text: str) -> str:
    """Return *text* for a line of Markdown: words as they are, also with an underscore, dash or point inside; anything else escaped."""
    return text if _PLAIN.fullmatch(text) else escaped(text)


def _header(facts: DatasetFacts, features: Json) -> str:
    import yaml  # noqa: PLC0415 - only the card needs it

    made = facts.made_by(COMPOSED) + facts.made_by(WRITTEN)
    header: Json = {
        **_license(facts.license),
        "language": facts.languages(),
        "pretty_name": facts.name,
        "tags": ["pii", "privacy", *(["synthetic"] if made else []), "piiloom"],
        "task_categories": ["token-classification"],
        "size_categories": [next((name for limit, name in _SIZES if facts.records < limit), _LARGEST)],
        "configs": [
            {"config_name": "default", "data_files": [{"split": split, "path": name} for split, name in facts.files().items()]},
        ],
        "dataset_info": {
            "splits": [{"name": name, "num_examples": part.get("records", 0)} for name, part in facts.splits.items()],
            **features,
        },
    }
    kept = {key: value for key, value in header.items() if value != []}
    # Escapes what is not printable, so that no name can end the header.
    return yaml.safe_dump(kept, sort_keys=False, allow_unicode=False, width=120)


def _license(told: str | None) -> Json:
    """An identifier is written small, as the Hugging Face Hub lists them; any other text is a licence of its own."""
    if told is None:
        return {"license": "unknown"}
    return {"license": told.lower()} if _SPDX.fullmatch(told) else {"license": "other", "license_name": told}


def _body(facts: DatasetFacts, taxonomy: Taxonomy) -> str:
    told = Statements(facts, taxonomy, show=in_markdown)
    sections = (
        ("What is in it", [told.content(), _splits(facts)]),
        ("Types and relevance", [_types(facts)]),
        ("How it was made", [_list(told.collection())]),
        ("How the labels were checked", [_list(told.annotation())]),
        ("What the splits share", _leakage(facts)),
        ("Personal and sensitive information", [_list(told.personal_information())]),
        ("Uses", [_list(told.use_cases())]),
        ("Biases", [_list(told.biases())]),
        ("Limitations", [_list(told.limitations())]),
        ("Version and maintenance", [told.maintenance()]),
        ("Licence", [in_markdown(facts.license) if facts.license else "Not stated; `piiloom release --license` states it."]),
        ("How to cite", [f"```bibtex\n{told.citation()}\n```"]),
        ("How to make it again", [_again(facts)]),
    )
    parts = [f"# {in_markdown(facts.name)}"]
    for title, paragraphs in sections:
        filled = [paragraph for paragraph in paragraphs if paragraph]
        if filled:
            parts += [f"## {title}", *filled]
    return "\n\n".join(parts) + "\n"


def _splits(facts: DatasetFacts) -> str:
    rows = [[in_markdown(name), _number(part.get("records", 0)), _number(part.get("spans", 0))] for name, part in facts.splits.items()]
    return _table(["split", "records", "spans"], rows)


def _types(facts: DatasetFacts) -> str:
    by_type = facts.relevance_by_type()
    if not by_type:
        return _table(["type", "spans"], [[in_markdown(name), _number(count)] for name, count in facts.types.most_common()])
    sides = ("high", "low", "none")
    rows = [
        [in_markdown(name), *(_number(by_type[name][side] if name in by_type else 0) for side in sides), _number(count)]
        for name, count in facts.types.most_common()
    ]
    return _table(["type", "high", "low", "not labelled", "spans"], rows)


def _leakage(facts: DatasetFacts) -> list[str]:
    if len(facts.splits) < 2:
        return []
    figures = facts.leakage()
    if not figures:
        return ["Not stated; `piiloom report --release` measures it."]
    wanted = (
        ("values", ("values",)),
        ("values that seldom repeat", ("open_values",)),
        ("contexts (near-duplicates)", ("contexts", "near")),
        ("questions (near-duplicates)", ("questions", "near")),
        ("stories", ("stories",)),
        ("personas", ("personas",)),
    )
    rows = []
    for split, told in figures.items():
        for title, path in wanted:
            seen: object = told
            for key in path:
                seen = seen.get(key) if isinstance(seen, dict) else None
            if isinstance(seen, dict) and seen.get("of"):
                rows.append(
                    [
                        in_markdown(split),
                        in_markdown(str(told.get("against", "train"))),
                        title,
                        _number(seen["seen"]),
                        _number(seen["of"]),
                    ]
                )
    return [_table(["split", "compared with", "what", "also there", "of"], rows)] if rows else []


def _again(facts: DatasetFacts) -> str:
    """The settings as a table, since they may hold text of any kind, and the commands that take them."""
    rows = [[in_markdown(str(name)), in_markdown(_setting(value))] for name, value in settings_of(dict(facts.about)).items()]
    made = facts.about.get("piiloom")
    with_version = f" (version {in_markdown(str(made))})" if made else ""
    told = f"`piiloom release` on the same store{with_version}, with these settings, then `piiloom export --format huggingface`."
    return f"{told}\n\n{_table(['setting', 'value'], rows)}" if rows else told


def _setting(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _number(count: int) -> str:
    return f"{count:,}"


def _list(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


class DatasetFacts:
    """The figures of a release that its card and its Croissant description state; counts are over all splits.

    *about* is the content of ``release.json``; keys that an older version lacks are unknown. ``pairs`` are the records by pair of types
    ("health+occupation"), which imported ones lack; ``producers`` are phrases that follow a count; ``license`` is an SPDX identifier or any
    text.
    """

    def __init__(self, about: Mapping[str, Any]) -> None:
        self.about = about
        splits = about.get("splits") or {}
        self.splits: Mapping[str, Mapping[str, Any]] = {name: splits[name] for name in in_order(splits)}
        self.records, self.spans = (sum(part.get(name, 0) for part in self.splits.values()) for name in ("records", "spans"))
        by_name = ("types", "relevance", "pairs", "locales", "producers")
        self.types, self.relevance, self.pairs, self.locales, self.producers = (
            sum((Counter(part.get(name, {})) for part in self.splits.values()), Counter[str]()) for name in by_name
        )
        self.name = str(about.get("name") or "dataset")
        self.version, self.license, self.content_sha256 = (_text(about.get(name)) for name in ("version", "license", "content_sha256"))

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

    def collection_types(self) -> list[str]:
        """Return the ways of collecting, by the words that the RAI vocabulary recommends."""
        made = self.made_by(COMPOSED) + self.made_by(WRITTEN)
        return (["Software Collection"] if made else []) + (["Secondary Data analysis"] if self.made_by(IMPORTED) else [])

    def leakage(self) -> dict[str, Mapping[str, Any]]:
        """Return the figures of each split that was compared with another; empty if none is stated."""
        told = self.about.get("leakage") or {}
        return {name: told[name] for name in in_order(told) if isinstance(told[name], dict)}


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


def _text(value: object) -> str | None:
    return str(value) if value not in (None, "") else None


def unescaped(text: str) -> str:
    """Return *text* unchanged: what ``show`` is where nothing needs to be escaped."""
    return text


@dataclass(frozen=True, slots=True)
class Statements:
    """The sentences about one release; see the module docstring."""

    facts: DatasetFacts
    taxonomy: Taxonomy
    show: Callable[[str], str] = unescaped

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
        if labelled := self.facts.relevance["high"] + self.facts.relevance["low"]:
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
        listed = [f"{self.show(name)} ({count:,})" for name, count in counts]
        more = f", and {len(listed) - most} more" if len(listed) > most else ""
        return ", ".join(listed[:most]) + more


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
