"""The card of an exported dataset: the README.md of a Hugging Face dataset, a YAML header and Markdown.

The header says how ``datasets`` loads the files. The text is made of the sentences of ``dataset_statements``, each of which a figure of the
release warrants; where something is not known it says "not stated", and with which command it is. Names from the data are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.dataset_facts import COMPOSED, WRITTEN, DatasetFacts, settings_of
from piiloom.corpus.formats.dataset_statements import Statements
from piiloom.foundation.markdown import escaped
from piiloom.taxonomy.entity_types import Taxonomy

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


def shown(text: str) -> str:
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
    told = Statements(facts, taxonomy, show=shown)
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
        ("Licence", [_told_license(facts)]),
        ("How to cite", [f"```bibtex\n{told.citation()}\n```"]),
        ("How to make it again", [_again(facts)]),
    )
    parts = [f"# {shown(facts.name)}"]
    for title, paragraphs in sections:
        filled = [paragraph for paragraph in paragraphs if paragraph]
        if filled:
            parts += [f"## {title}", *filled]
    return "\n\n".join(parts) + "\n"


def _splits(facts: DatasetFacts) -> str:
    rows = [[shown(name), _number(part.get("records", 0)), _number(part.get("spans", 0))] for name, part in facts.splits.items()]
    return _table(["split", "records", "spans"], rows)


def _types(facts: DatasetFacts) -> str:
    by_type = facts.relevance_by_type()
    if not by_type:
        return _table(["type", "spans"], [[shown(name), _number(count)] for name, count in facts.types.most_common()])
    sides = ("high", "low", "none")
    rows = [
        [shown(name), *(_number(by_type[name][side] if name in by_type else 0) for side in sides), _number(count)]
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
                rows.append([shown(split), shown(str(told.get("against", "train"))), title, _number(seen["seen"]), _number(seen["of"])])
    return [_table(["split", "compared with", "what", "also there", "of"], rows)] if rows else []


def _told_license(facts: DatasetFacts) -> str:
    return shown(facts.license) if facts.license else "Not stated; `piiloom release --license` states it."


def _again(facts: DatasetFacts) -> str:
    """The settings as a table, since they may hold text of any kind, and the commands that take them."""
    rows = [[shown(str(name)), shown(_setting(value))] for name, value in settings_of(dict(facts.about)).items()]
    made = facts.about.get("piiloom")
    with_version = f" (version {shown(str(made))})" if made else ""
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
