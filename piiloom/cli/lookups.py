"""``piiloom types``, ``locales``, ``names`` and ``prices``: entity types, locales, names and prices of models, looked up."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from piiloom.cli.options import AsJson, json_setting
from piiloom.cli.progress import shown
from piiloom.cli.terminal import command_group, examples, in_columns, say_aside, say_result
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.settings import AnyPath, Settings, setting
from piiloom.foundation.words import counted

if TYPE_CHECKING:
    from piiloom.pii_values.names.building import Step
    from piiloom.pii_values.names.classifying import NameFacts
    from piiloom.taxonomy.own_types import OwnTypes


_LIST_TYPES = ("piiloom types list", "piiloom types list --types my_types.yaml --json")
_NEW_TYPE = ('piiloom types new "badge number"', "piiloom types new plate --out my_types.yaml --force")
_EVERY_TYPE: Final = "import, annotate, release, export, evaluate, compare, report, probe and train take every type"

types_app = command_group("List entity types, and begin one of your own.", _LIST_TYPES[0], _NEW_TYPE[0])


class ListTypes(Settings):
    """The options of ``piiloom types list``."""

    types: Path | None = setting(None, "Your own entity types (docs/own-types.md).", metavar="FILE")
    as_json: bool = json_setting()


class NewType(Settings):
    """The options of ``piiloom types new``."""

    name: str = setting(..., "The name of the type, such as badge number.", metavar="NAME", argument=True)
    out: Path | None = setting(None, "The file to write (NAME.yaml when not given).", flags="--out -o", metavar="FILE")
    force: bool = setting(False, "Replace the file if it is there.")
    as_json: bool = json_setting()


@types_app.command("list", epilog=examples(*_LIST_TYPES))
@takes(ListTypes)
def list_types(asked: ListTypes) -> None:
    """List the entity types, with those of a types file, and the commands that take each."""
    from piiloom.taxonomy.own_types_file import read_types_file

    own = () if asked.types is None else read_types_file(asked.types)
    found = _types(own)
    rows = [("type", "generate", "detect --detector patterns", "surrogate as", "subtypes")]
    for one in found:
        patterns = one["detect"]["patterns"]
        words = f"{patterns} kinds" if patterns > 1 else "1 kind" if patterns else "hybrid or a model" if not one["own"] else "a model"
        rows.append((one["type"], one["generate"], words, one["surrogate"], str(len(one["subtypes"]))))
    own_type = f"{_EVERY_TYPE}; piiloom types new NAME begins one of your own"
    say_result({"types": found, "every_type": _EVERY_TYPE}, *in_columns(rows, left=range(4)), own_type, as_json=asked.as_json)


def _types(own: OwnTypes) -> list[dict[str, Any]]:
    from piiloom.surrogates.placeholders.reading import kind_of_span
    from piiloom.taxonomy.entities.entity_catalogue import shipped_entities
    from piiloom.taxonomy.own_entities import without_pattern
    from piiloom.taxonomy.own_types import extended

    of_catalogue = Counter(entity.entity_type for entity in shipped_entities())
    with_patterns = Counter(entity.entity_type for entity in shipped_entities() if entity.patterns)
    with_own_pattern = {one.name for one in own} - set(without_pattern(own))
    return [
        {
            "type": one.name,
            "own": one.own,
            "definition": one.definition,
            "generate": "pairs and texts" if one.pairable else "texts",
            "detect": {
                "patterns": len(one.subtypes) if one.name in with_own_pattern else with_patterns[one.name],
                "hybrid": len(one.subtypes) if one.name in with_own_pattern else of_catalogue[one.name],
            },
            "surrogate": kind_of_span(one.name, None).replace("_", " "),
            "subtypes": [subtype.name for subtype in one.subtypes],
        }
        for one in extended(own).types.values()
    ]


@types_app.command("new", epilog=examples(*_NEW_TYPE))
@takes(NewType)
def new_type(asked: NewType) -> None:
    """Write a types file with a new type, a pattern for its values and a story that mentions it: a working example to change.

    generate, detect, import, annotate and stories check read the file as it is (docs/own-types.md).
    """
    from piiloom.taxonomy.own_types_file import write_example_file

    path, made = write_example_file(asked.name, asked.out, force=asked.force)
    say_result(
        {"file": str(path), "type": made.name, "aliases": list(made.aliases)},
        f"{path}: the type {made.name!r}, a pattern for its values, and a story",
        f"  piiloom stories check {path}",
        f'  piiloom generate --types {path} --pairs "occupation+{made.name}" --samples 20',
        as_json=asked.as_json,
    )


_LIST_LOCALES = ("piiloom locales list", "piiloom locales list --json")
_ENGLISH: Final = "English words"
_ANY: Final = (
    "generate with a model",
    "surrogate run|survey|leakage",
    "import",
    "records list",
    "release",
    "evaluate",
    "compare",
    "detect with a model of your own",
)

locales_app = command_group("List the locales that commands take.", *_LIST_LOCALES)


@locales_app.callback()
def _group_of_locales() -> None:
    """Keep ``list`` a command of its own."""


@locales_app.command("list", epilog=examples(*_LIST_LOCALES))
@takes(AsJson)
def list_locales(asked: AsJson) -> None:
    """List the locales for which piiloom has data, and the commands that take each.

    Every --locale also takes pt-BR, pt_br and pt_BR.UTF-8, and a language alone where it has one locale only.
    """
    from piiloom.taxonomy.locales import locale_codes

    found = [_locale(code) for code in _listed_locales()]
    codes = locale_codes()
    rows = [("locale", "language", "country", "generate", "detect, entities", "benchmark", "surrogate", "names")]
    for one in found:
        taken = {name: value if isinstance(value, str) else "yes" if value else "–" for name, value in one["commands"].items()}
        rows.append((one["locale"], one["language"], one["country"], *taken.values()))
    any_locale = {"commands": list(_ANY), "languages": len(codes.languages), "countries": len(codes.countries)}
    say_result(
        {"locales": found, "any_locale": any_locale},
        *in_columns(rows, left=range(len(rows[0]))),
        f"any other locale ({len(codes.languages)} languages of ISO 639, {len(codes.countries)} countries of ISO 3166-1), as in de_CH:",
        f"  {', '.join(_ANY)}",
        as_json=asked.as_json,
    )


def _listed_locales() -> list[str]:
    """Return the locales with data; of languages that surrogates have words of, the likeliest country."""
    from piiloom.surrogates.kinds.places import languages
    from piiloom.taxonomy.locales import locale_codes, shipped_locales

    known = list(shipped_locales())
    spoken = {code.partition("_")[0] for code in known}
    return known + [f"{one}_{locale_codes().languages[one].countries[0]}" for one in languages() if one not in spoken]


def _locale(code: str) -> dict[str, Any]:
    from piiloom.pii_values.names.index import open_names
    from piiloom.surrogates.kinds.places import languages
    from piiloom.taxonomy.entities.entity_catalogue import LOCALES, catalogue_locales
    from piiloom.taxonomy.locales import load_locales, locale_codes

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


_BUILD = ("piiloom names build", "piiloom names build --out names.idx --country NL,BE,DE")
_CLASSIFY = ('piiloom names classify "Adaeze Okafor" "Md. Rahman"', "piiloom names classify --file names.txt --json")
_TOP = ("piiloom names top --country NL --gender female -n 20", "piiloom names top --country KR --family")
# The share of the time that each step takes: its beginning, and its length.
_PARTS: Final = {
    ("first", "reading"): (0.0, 0.3),
    ("first", "packing"): (0.3, 0.15),
    ("last", "reading"): (0.45, 0.3),
    ("last", "packing"): (0.75, 0.2),
    ("writing", "writing"): (0.95, 0.05),
}

names_app = command_group("Look up names in the names index, and build the large one.", *_BUILD, *_CLASSIFY, *_TOP)


class _Index(Settings):
    names_index: Path | None = setting(
        None, "The names index (default: $PIILOOM_NAMES, else the one that was built, else the built-in one).", metavar="FILE"
    )


class Build(Settings):
    """The options of ``piiloom names build``."""

    out: Path | None = setting(None, "The file to write; in your data folder when not given.", flags="--out -o", metavar="FILE")
    country: str | None = setting(None, "Only these countries, as ISO codes with commas between (default: all 105).", metavar="CODES")
    as_json: bool = json_setting()


class Classify(_Index):
    """The options of ``piiloom names classify``."""

    names: tuple[str, ...] = setting((), "Full names, each in quotes.", metavar="NAME...", argument=True)
    file: Path | None = setting(None, "A text file with one name a line (UTF-8).", metavar="FILE")
    as_json: bool = json_setting()


class Top(_Index):
    """The options of ``piiloom names top``."""

    country: str = setting(..., "ISO 3166 alpha-2 code of the country: NL.", metavar="CODE")
    gender: str | None = setting(None, "female or male; both when not given.")
    limit: int = setting(20, "Number of names.", flags="--limit -n", ge=1)
    family: bool = setting(False, "Family names instead of given names.")
    as_json: bool = json_setting()


@names_app.command("build", epilog=examples(*_BUILD))
@takes(Build)
def build(asked: Build) -> None:
    """Build the large names index from the package names-dataset: once, for yourself, in about half a minute.

    It needs about 1.4 GB of memory while it runs and 85 MB of disk. docs/names.md names the sources of the package;
    do not pass the index on.
    """
    from piiloom.pii_values.names.building import PEAK_MB, build_index
    from piiloom.pii_values.names.index import open_names, user_file

    path = asked.out or user_file()
    wanted = None if asked.country is None else [code.strip().upper() for code in asked.country.split(",") if code.strip()]
    if wanted == []:
        raise UsageError("no country is given", remedy="Write --country NL,BE or leave the option out.")
    say_aside(f"reading names-dataset; this takes up to {PEAK_MB:,} MB of memory")
    started = time.monotonic()
    with shown(_described, wanted=not asked.as_json, label="names", share=lambda step: (_total(step), 1.0)) as watch:
        size = build_index(path, countries=wanted, watch=lambda *step: watch(step))
    took = time.monotonic() - started
    index = open_names(path)
    names = f"{len(index.first):,} first and {len(index.last):,} last names"
    say_result(
        {"file": str(path), "bytes": size, "first_names": len(index.first), "last_names": len(index.last), "source": index.source},
        f"{path}: {names} of {counted(len(index.countries()), 'country')}, {counted(size, 'byte')}",
        f"built in {took:.0f} s from {index.source}; for use on this machine, see docs/names.md",
        as_json=asked.as_json,
    )


def _described(progress: tuple[Step, str, float]) -> str:
    step, doing, _ = progress
    return f"{'writing' if step == 'writing' else f'{doing} {step} names'}, {100 * _total(progress):.0f}%"


def _total(progress: tuple[Step, str, float]) -> float:
    step, doing, share = progress
    start, part = _PARTS[step, doing]
    return start + part * share


@names_app.command("classify", epilog=examples(*_CLASSIFY))
@takes(Classify)
def classify(asked: Classify) -> None:
    """Estimate gender, country and UN region of names, with probabilities. A guess about names, never a fact about a person."""
    from piiloom.pii_values.names.classifying import Classifier, read_name_list
    from piiloom.pii_values.names.index import open_names

    if bool(asked.names) == (asked.file is not None):
        raise UsageError("give names or --file, one of the two")
    wanted = asked.names if asked.file is None else read_name_list(asked.file)
    classifier = Classifier(open_names(asked.names_index))
    found = [classifier.classify(name) for name in wanted]
    rows = [("name", "gender", "region", "countries", "known"), *map(_row, found)]
    data = {"index": classifier.source, "names": [facts.as_json() for facts in found]}
    say_result(data, *in_columns(rows, left=range(5)), as_json=asked.as_json)


def _row(facts: NameFacts) -> tuple[str, str, str, str, str]:
    countries = ", ".join(f"{code} {_per_cent(share)}" for code, share in facts.countries)
    gender = f"{facts.gender} {_per_cent(facts.gender_share)}" if facts.gender else "unknown"
    region = f"{facts.region} {_per_cent(facts.region_share)}" if facts.region else "unknown"
    return facts.name, gender, region, countries or "unknown", facts.known


def _per_cent(share: float | None) -> str:
    return f"{100 * (share or 0.0):.0f}%"


@names_app.command("top", epilog=examples(*_TOP))
@takes(Top)
def top(asked: Top) -> None:
    """List the most frequent names of a country, most frequent first."""
    from piiloom.pii_values.names.index import open_names

    index, country = open_names(asked.names_index), asked.country.upper()
    found = index.most_frequent(country, asked.limit, family=asked.family, gender=asked.gender)
    columns = {"family": found} if asked.family else {{"F": "female", "M": "male"}[of]: names for of, names in sorted(found.items())}
    lines = max(map(len, columns.values()), default=0)
    rows = [("rank", *columns)]
    rows += [(str(at + 1), *(names[at] if at < len(names) else "" for names in columns.values())) for at in range(lines)]
    table = in_columns(rows, left=range(1, len(columns) + 1))
    say_result({"index": index.source, "country": country, "names": found}, *table, as_json=asked.as_json)


_CHECK_PRICES = ("piiloom prices check model_prices_and_context_window.json", "piiloom prices check litellm.json --json")
# LiteLLM's name of each field that is compared. Its prices are for one token.
_FIELDS: Final = {
    "input": "input_cost_per_token",
    "cached": "cache_read_input_token_cost",
    "output": "output_cost_per_token",
    "cache_write": "cache_creation_input_token_cost",
    "max_output_tokens": "max_output_tokens",
}
_PROVIDERS: Final = ("openai", "anthropic")

prices_app = command_group("Compare the list of models and prices with the one of LiteLLM.", *_CHECK_PRICES)


class CheckPrices(AsJson):
    """The options of ``prices check``."""

    file: AnyPath = setting(..., "LiteLLM's model_prices_and_context_window.json, as downloaded.", metavar="FILE", argument=True)


@prices_app.callback()
def _group_of_prices() -> None:
    """Keep ``check`` a command of its own."""


@prices_app.command("check", epilog=examples(*_CHECK_PRICES))
@takes(CheckPrices)
def check_prices(asked: CheckPrices) -> None:
    """Compare prices and output limits of OpenAI's and Anthropic's models with LiteLLM's price map; exit code 1 if some differ.

    Prices are in USD per million tokens. Left out: models turned off before the date of piiloom's list, and values that LiteLLM lacks.
    """
    from piiloom.providers.prices import load_models

    book, found, compared, unlisted = load_models(), list[dict[str, Any]](), 0, dict.fromkeys(_PROVIDERS, 0)
    for model, entry in _price_map(asked.file).items():
        provider, spec = entry["litellm_provider"], book.find(entry["litellm_provider"], model)
        if str(entry.get("deprecation_date") or book.dated) < str(book.dated):
            continue
        if spec is None:
            unlisted[provider] += 1
            continue
        compared += 1
        for field, name in _FIELDS.items():
            ours, theirs = getattr(spec, field), entry.get(name)
            if isinstance(theirs, int | float) and ours != (wanted := theirs if name == field else round(theirs * 1e6, 9)):
                found.append({"provider": provider, "model": model, "field": field, "ours": ours, "theirs": wanted})
    rows = [(one["model"], one["field"], *("–" if one[who] is None else f"{one[who]:,}" for who in ("ours", "theirs"))) for one in found]
    table = in_columns([("model", "field", "ours", "theirs"), *rows], left=(0, 1)) if rows else ()
    others = " and ".join(f"{number:,} of {provider}" for provider, number in unlisted.items())
    told = f"{counted(compared, 'model')} compared: {counted(len(found), 'difference')}; models that only LiteLLM lists: {others}"
    data = {"dated": str(book.dated), "models_compared": compared, "differences": found, "only_theirs": unlisted}
    say_result(data, *table, told, as_json=asked.as_json)
    if found:
        raise typer.Exit(1)


def _price_map(path: Path) -> dict[str, dict[str, Any]]:
    """Return the entries of *path* for text models of ``_PROVIDERS``; raises ``DataError`` if it is no price map."""
    try:
        read = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"the price map cannot be read ({type(error).__name__})", where=str(path), remedy="Download it again") from error
    entries = {name: entry for name, entry in read.items() if isinstance(entry, dict)} if isinstance(read, dict) else {}
    kept = {
        name: one for name, one in entries.items() if one.get("litellm_provider") in _PROVIDERS and one.get("mode") in {"chat", "responses"}
    }
    if not kept:
        raise DataError("the file has no model of openai or anthropic", where=str(path), remedy="Name LiteLLM's price map")
    return kept
