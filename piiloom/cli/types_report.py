"""The work behind ``piiloom doctor --types``: what a types file adds, with values as its generators draw them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from piiloom.cli.bank_report import findings_table, lint_bank
from piiloom.cli.terminal import harmless, say, say_json, say_table
from piiloom.foundation.seeding import derive_rng
from piiloom.pii_values.kinds import draw_own
from piiloom.taxonomy.entity_types import Pair, Taxonomy
from piiloom.taxonomy.own_type_asides import fits_an_aside
from piiloom.taxonomy.own_types import OwnSubtype, OwnType, OwnTypes, extended
from piiloom.taxonomy.own_types_file import has_bank, read_types_file
from piiloom.taxonomy.story_bank import StoryBank

_DRAWN = 5
# With fewer values one will soon stand in many records.
_FEW = 50


def report_types(path: Path, bank: Path | None, *, as_json: bool) -> bool:
    """Print what the file at *path* adds, and what is wrong with *bank* under its types; whether both can be used.

    Raises ``ConfigError`` (file, line, key) for a types file that cannot be used.
    """
    own = read_types_file(path)
    bank = path if bank is None and has_bank(path) else bank
    taxonomy = extended(own)
    findings, usable = ([], True) if bank is None else lint_bank(bank, taxonomy)
    stories = Counter(story.pair for story in StoryBank("en", bank, taxonomy).own) if usable else Counter()
    told = [_told(one, taxonomy, stories) for one in own]
    if as_json:
        say_json({"usable": usable, "types": told, "findings": [asdict(finding) for finding in findings]})
        return usable
    say_table(_table(told))
    for line in _notes(own, told):
        say(line)
    if findings:
        say_table(findings_table(findings))
    elif bank is not None:
        say(f"no findings in {harmless(str(bank))}")
    return usable


def _told(one: OwnType, taxonomy: Taxonomy, stories: Counter[Pair]) -> dict[str, Any]:
    pairs = [(min(one.name, mate), max(one.name, mate)) for mate in taxonomy.mates(one.name)]
    return {
        "name": one.name,
        "definition": one.definition,
        "aliases": list(one.aliases),
        "pairs": {"+".join(pair): stories[pair] for pair in pairs},
        "subtypes": [
            {
                "name": subtype.name,
                "slot": f"{{{one.name.replace(' ', '_')}.{subtype.name}}}",
                "form": subtype.form,
                "generator": subtype.generator.kind,
                "values": subtype.generator.count(),
                "drawn": _drawn(subtype),
            }
            for subtype in one.subtypes
        ],
    }


def _drawn(subtype: OwnSubtype) -> list[str]:
    if subtype.generator.kind == "model":
        return []
    rng = derive_rng("doctor", subtype.name)
    return list(dict.fromkeys(draw_own(subtype.generator, "en_US", rng) for _ in range(_DRAWN)))


def _table(told: list[dict[str, Any]]) -> Table:
    table = Table(title="types that this file adds", show_lines=True)
    for column in ("type", "slot in asides", "values", "as drawn", "pairs (stories in the bank)"):
        table.add_column(column)
    for one in told:
        pairs = ", ".join(f"{pair} ({count})" for pair, count in one["pairs"].items()) or "none: asides only"
        for place, subtype in enumerate(one["subtypes"]):
            number = "" if subtype["values"] is None else f", {subtype['values']:,}"
            drawn = "; ".join(subtype["drawn"]) or "asked of the model"
            first = (one["name"], pairs) if place == 0 else ("", "")
            row = (first[0], subtype["slot"], f"{subtype['generator']}{number}", drawn, first[1])
            table.add_row(*(harmless(text) for text in row))
    return table


def _notes(own: OwnTypes, told: list[dict[str, Any]]) -> Iterator[str]:
    for one, about in zip(own, told, strict=True):
        for subtype in one.subtypes:
            number = subtype.generator.count()
            if number is not None and number < _FEW:
                yield f"note: {one.name}.{subtype.name} has {number} values: each will stand in many records"
        if one.asks_model():
            yield f"note: values of {one.name} are asked of the model, so the composer cannot write about it"
        lacking = [pair for pair, count in about["pairs"].items() if not count]
        if lacking and fits_an_aside(one) and len(lacking) == len(about["pairs"]):
            yield f"note: no story is about {one.name}: the composer mentions its values beside the stories, with low relevance"
        elif lacking and not one.asks_model():
            yield f"note: the composer needs a story in a --bank of your own for {', '.join(lacking)}; a model needs none"
