"""From the options of a command to those of ``open_pairs``."""

from __future__ import annotations

from collections.abc import Sequence

from piiloom.cli.evaluation_inputs import InputChoice
from piiloom.corpus.importing import parse_columns
from piiloom.evaluation.inputs.documents import Needs
from piiloom.evaluation.inputs.opening import InputOptions
from piiloom.evaluation.inputs.type_map import parse_types, read_type_map


def input_options(choice: InputChoice, needs: Needs = "places") -> InputOptions:
    """Return the options for reading. Raises ``UsageError`` for what makes no sense, and ``DataError`` for a map that cannot be read."""
    return InputOptions(
        needs=needs,
        gold_format=choice.gold_format or choice.file_format,
        found_format=choice.predictions_format or choice.file_format,
        columns=_columns(choice.columns or ()),
        type_map={} if choice.type_map is None else read_type_map(choice.type_map),
        types=None if choice.types is None else parse_types(choice.types),
        locale=choice.locale,
        skip_values=choice.skip_values,
    )


def _columns(given: Sequence[str]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for text in given:
        columns |= parse_columns(text)
    return columns
