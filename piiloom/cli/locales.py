"""``piiloom locales``: the locales with data, and the commands that take each."""

from __future__ import annotations

from typing import Any, Final

import typer

from piiloom.cli.options import json_setting
from piiloom.cli.terminal import examples, say, say_json
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import Settings

_LIST = ("piiloom locales list", "piiloom locales list --json")
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

locales_app = typer.Typer(
    help="List the locales that commands take.", epilog=examples(*_LIST), no_args_is_help=True, pretty_exceptions_enable=False
)


class ListLocales(Settings):
    """The options of ``piiloom locales list``."""

    as_json: bool = json_setting()


@locales_app.callback()
def _group() -> None:
    """Keep ``list`` a command of its own."""


@locales_app.command("list", epilog=examples(*_LIST))
@takes(ListLocales)
def list_locales(asked: ListLocales) -> None:
    """List the locales for which piiloom has data, and the commands that take each.

    Every --locale also takes pt-BR, pt_br and pt_BR.UTF-8, and a language alone where it has one locale only.
    """
    from piiloom.cli.terminal import in_columns
    from piiloom.taxonomy.locales import locale_codes

    found = [_locale(code) for code in _listed_locales()]
    codes = locale_codes()
    if asked.as_json:
        any_locale = {"commands": list(_ANY), "languages": len(codes.languages), "countries": len(codes.countries)}
        say_json({"locales": found, "any_locale": any_locale})
        return
    rows = [("locale", "language", "country", "generate", "detect, entities", "benchmark", "surrogate", "names")]
    for one in found:
        taken = {name: value if isinstance(value, str) else "yes" if value else "–" for name, value in one["commands"].items()}
        rows.append((one["locale"], one["language"], one["country"], *taken.values()))
    say("\n".join(in_columns(rows, left=range(len(rows[0])))))
    say(f"any other locale ({len(codes.languages)} languages of ISO 639, {len(codes.countries)} countries of ISO 3166-1), as in de_CH:")
    say(f"  {', '.join(_ANY)}")


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
