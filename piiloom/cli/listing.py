"""The work behind ``piiloom locales`` and ``piiloom types``: what each command takes, and a types file to begin with."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final

from piiloom.cli.terminal import harmless, in_columns, say, say_json
from piiloom.foundation.errors import OutputError
from piiloom.foundation.whole_files import drafted
from piiloom.pii_values.names.index import open_names
from piiloom.surrogates.kinds.places import languages
from piiloom.surrogates.placeholders.span_kinds import kind_of_span
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, catalogue_locales, shipped_entities
from piiloom.taxonomy.entity_types import EntityType
from piiloom.taxonomy.locales import load_locales, locale_codes, shipped_locales
from piiloom.taxonomy.own_entities import without_pattern
from piiloom.taxonomy.own_types import OwnTypes, extended
from piiloom.taxonomy.own_types_file import example_file, read_types_file

_ENGLISH: Final = "English words"
_EVERY_TYPE: Final = "import, annotate, release, export, evaluate, compare, report, probe and train take every type"
_ANY: Final = (
    "surrogate run|survey|leakage",
    "import",
    "records list",
    "release",
    "evaluate",
    "compare",
    "detect with a model of your own",
)


def print_locales(*, as_json: bool) -> None:
    """Print the locales with data, and the commands that take any other."""
    found = [_locale(code) for code in _listed_locales()]
    codes = locale_codes()
    if as_json:
        any_locale = {"commands": list(_ANY), "languages": len(codes.languages), "countries": len(codes.countries)}
        say_json({"locales": found, "any_locale": any_locale})
        return
    rows = [("locale", "language", "country", "generate", "detect, entities", "benchmark", "surrogate", "names")]
    rows += [
        (
            one["locale"],
            one["language"],
            one["country"],
            *(_mark(one["commands"][name]) for name in ("generate", "detect", "benchmark")),
            one["commands"]["surrogate"],
            _mark(one["commands"]["names"]),
        )
        for one in found
    ]
    say("\n".join(in_columns(rows, left=range(len(rows[0])))))
    say(f"any other locale ({len(codes.languages)} languages of ISO 639, {len(codes.countries)} countries of ISO 3166-1), as in de_CH:")
    say(f"  {', '.join(_ANY)}")


def _listed_locales() -> list[str]:
    """Return the locales with data; of languages that surrogates have words of, the likeliest country."""
    known = list(shipped_locales())
    spoken = {code.partition("_")[0] for code in known}
    return known + [f"{one}_{locale_codes().languages[one].countries[0]}" for one in languages() if one not in spoken]


def _locale(code: str) -> dict[str, Any]:
    language, _, country = code.partition("_")
    return {
        "locale": code,
        "language": locale_codes().languages[language].name,
        "country": locale_codes().countries[country],
        "commands": {
            "generate": code in load_locales(),
            "detect": code in catalogue_locales(),
            "benchmark": code in LOCALES,
            "surrogate": "own words" if language in languages() else _ENGLISH,
            "names": country in open_names(None).countries(),
        },
    }


def _mark(wanted: bool) -> str:
    return "yes" if wanted else "–"


def print_types(path: Path | None, *, as_json: bool) -> None:
    """Print the shipped types and those of the types file at *path*. Raises ``ConfigError`` for a faulty file."""
    own = () if path is None else read_types_file(path)
    found = _types(own)
    if as_json:
        say_json({"types": found, "every_type": _EVERY_TYPE})
        return
    rows = [("type", "generate", "detect --detector patterns", "surrogate as", "subtypes")]
    for one in found:
        patterns = one["detect"]["patterns"]
        told = f"{patterns} kinds" if patterns > 1 else "1 kind" if patterns else "hybrid or a model" if not one["own"] else "a model"
        rows.append((one["type"], one["generate"], told, one["surrogate"], str(len(one["subtypes"]))))
    say("\n".join(harmless(line) for line in in_columns(rows, left=range(4))))
    say(f"{_EVERY_TYPE}; piiloom types new NAME begins one of your own")


def _types(own: OwnTypes) -> list[dict[str, Any]]:
    of_catalogue = Counter(entity.entity_type for entity in shipped_entities())
    with_patterns = Counter(entity.entity_type for entity in shipped_entities() if entity.patterns)
    with_own_pattern = {one.name for one in own} - set(without_pattern(own))
    return [
        {
            "type": one.name,
            "own": one.own,
            "definition": one.definition,
            "generate": _generated(one),
            "detect": {
                "patterns": len(one.subtypes) if one.name in with_own_pattern else with_patterns[one.name],
                "hybrid": len(one.subtypes) if one.name in with_own_pattern else of_catalogue[one.name],
            },
            "surrogate": kind_of_span(one.name, None).replace("_", " "),
            "subtypes": [subtype.name for subtype in one.subtypes],
        }
        for one in extended(own).types.values()
    ]


def _generated(one: EntityType) -> str:
    return "pairs and texts" if one.pairable else "texts"


def write_new_type(name: str, out: Path | None, *, force: bool, as_json: bool) -> None:
    """Write the types file of a new type. Raises ``UsageError`` for a name that cannot be one, ``OutputError`` for a file that is there."""
    plain, text = example_file(name)
    path = out or Path(f"{plain.replace(' ', '_')}.yaml")
    if path.exists() and not force:
        raise OutputError("the file is there already", where=str(path), remedy="Name another with --out, or replace it with --force")
    with drafted(path) as file:
        file.write(text.encode())
    (made,) = read_types_file(path)
    if as_json:
        say_json({"file": str(path), "type": made.name, "aliases": list(made.aliases)})
        return
    say(f"{path}: the type {made.name!r}, a pattern for its values, and a story")
    say(f"  piiloom stories check {path}")
    say(f'  piiloom generate --types {path} --pairs "occupation+{made.name}" --samples 20')
