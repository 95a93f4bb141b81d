"""``piiloom types``: the entity types, the commands that take each, and a type of the user's own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from piiloom.cli.options import json_setting
from piiloom.cli.terminal import examples, harmless, say, say_json
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import Settings, setting

if TYPE_CHECKING:
    from piiloom.taxonomy.own_types import OwnTypes

_LIST = ("piiloom types list", "piiloom types list --types my_types.yaml --json")
_NEW = ('piiloom types new "badge number"', "piiloom types new plate --out my_types.yaml --force")
_EVERY_TYPE: Final = "import, annotate, release, export, evaluate, compare, report, probe and train take every type"

types_app = typer.Typer(
    help="List entity types, and begin one of your own.",
    epilog=examples(_LIST[0], _NEW[0]),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


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


@types_app.command("list", epilog=examples(*_LIST))
@takes(ListTypes)
def list_types(asked: ListTypes) -> None:
    """List the entity types, with those of a types file, and the commands that take each."""
    from piiloom.cli.terminal import in_columns
    from piiloom.taxonomy.own_types_file import read_types_file

    own = () if asked.types is None else read_types_file(asked.types)
    found = _types(own)
    if asked.as_json:
        say_json({"types": found, "every_type": _EVERY_TYPE})
        return
    rows = [("type", "generate", "detect --detector patterns", "surrogate as", "subtypes")]
    for one in found:
        patterns = one["detect"]["patterns"]
        words = f"{patterns} kinds" if patterns > 1 else "1 kind" if patterns else "hybrid or a model" if not one["own"] else "a model"
        rows.append((one["type"], one["generate"], words, one["surrogate"], str(len(one["subtypes"]))))
    say("\n".join(harmless(line) for line in in_columns(rows, left=range(4))))
    say(f"{_EVERY_TYPE}; piiloom types new NAME begins one of your own")


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


@types_app.command("new", epilog=examples(*_NEW))
@takes(NewType)
def new_type(asked: NewType) -> None:
    """Write a types file with a new type, a pattern for its values and a story that mentions it: a working example to change.

    generate, detect, import, annotate and stories check read the file as it is (docs/own-types.md).
    """
    from piiloom.taxonomy.own_types_file import write_example_file

    path, made = write_example_file(asked.name, asked.out, force=asked.force)
    if asked.as_json:
        say_json({"file": str(path), "type": made.name, "aliases": list(made.aliases)})
        return
    say(f"{path}: the type {made.name!r}, a pattern for its values, and a story")
    say(f"  piiloom stories check {path}")
    say(f'  piiloom generate --types {path} --pairs "occupation+{made.name}" --samples 20')
