"""``piiloom.evaluate`` and ``piiloom.compare``, which ``piiloom.api`` offers. Files may also be lists of records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from piiloom.cli.keyword_checks import known_keywords
from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.record import Record
from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy

if TYPE_CHECKING:
    from piiloom.evaluation.bias.collecting import Match
    from piiloom.evaluation.comparison.comparing import Comparison
    from piiloom.evaluation.evaluation_figures import Evaluation
    from piiloom.evaluation.schemes.base import Undefined
    from piiloom.evaluation.scoring.groups import Weight

# The command's field of a keyword, where it is named otherwise; and the fields that hold a path, words in one text, or a list.
_FIELDS = {"format": "file_format", "pred_format": "predictions_format", "map": "type_map"}
_PATHS = {"weights", "token_probabilities", "usage", "type_map", "out"}
_WORDS = {"may_stay", "types"}
_LISTS = {"schemes", "beta"}

# A file, or records at hand.
FileOrRecords = str | Path | Sequence[Record]


@known_keywords()
def evaluate(
    gold: FileOrRecords,
    predictions: FileOrRecords,
    *,
    schemes: str | Sequence[str] = ("exact",),
    beta: Sequence[float] = (),
    undefined: Undefined = "zero",
    by: str | None = None,
    weight: Weight = "documents",
    weights: str | Path | None = None,
    token_probabilities: str | Path | None = None,
    may_stay: Sequence[str] | None = None,
    cluster: str = "document",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 7,
    bias: str | None = None,
    bias_match: Match = "multiset",
    usage: str | Path | None = None,
    model: str | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    gold_format: str | None = None,
    pred_format: str | None = None,
    columns: Mapping[str, str] | None = None,
    map: str | Path | None = None,  # noqa: A002 - the option's name
    types: Sequence[str] | None = None,
    locale: str | None = None,
    skip_values: bool = False,
    out: str | Path | None = None,
    gallery_limit: int | None = None,
    force: bool = False,
) -> Evaluation:
    """Compare *predictions* with *gold*; gives all figures, unrounded.

    Both are files in any format that piiloom reads, or lists of records. The keywords are the options of ``piiloom evaluate``, with its
    defaults; evaluation.md defines all figures. ``evaluation.of("exact").overall["f1"]`` is one of them, ``by_type`` and ``intervals``
    stand beside ``overall``; ``to_json()`` gives what the command prints with ``--json``. With *out* the figures, the errors and plots are
    written there, too. Raises ``DataError`` for files that cannot be read or do not belong together, ``UsageError`` and ``OutputError``.
    """
    given = locals()
    from piiloom.cli.evaluate_options import EvaluateCommand  # noqa: PLC0415 - few scripts want them, all would load them
    from piiloom.cli.evaluating import run_evaluation  # noqa: PLC0415

    with record_files({name: given.pop(name) for name in ("gold", "predictions")}) as paths:
        return run_evaluation(EvaluateCommand(**_fields({**paths, **given})))[0]


@known_keywords()
def compare(
    gold: FileOrRecords,
    predictions: Mapping[str, FileOrRecords] | Sequence[str | Path] = (),
    *,
    detector: Sequence[str] = (),
    keep: str | Path | None = None,
    plots: str | Path | None = None,
    scheme: str = "exact",
    beta: Sequence[float] = (),
    by: str | None = None,
    lowest: bool = False,
    cluster: str = "document",
    confidence: float = 0.95,
    resamples: int = 1000,
    permutations: int = 10_000,
    seed: int = 7,
    format: str | None = None,  # noqa: A002 - the word users know
    gold_format: str | None = None,
    pred_format: str | None = None,
    columns: Mapping[str, str] | None = None,
    map: str | Path | None = None,  # noqa: A002 - the option's name
    types: Sequence[str] | None = None,
    locale: str | None = None,
    skip_values: bool = False,
    usage: Mapping[str, str | Path] | None = None,
    table: Sequence[str | Path] = (),
) -> Comparison:
    """Rank systems by their *predictions* for *gold*, and each *detector* run on it, with intervals and tests of the differences.

    *predictions*: files (or lists of records) by the name of the system, or a list of files, whose names are taken. A detector is written
    as for ``--detector``: "Ours=encoder --model-path DIR". The other keywords are the options of ``piiloom compare``, with its defaults.
    ``comparison.systems`` are all systems, the best first, each with ``name``, ``rank``, ``figures`` and ``intervals``. The table is also
    written to the files *table* (``.md``, ``.tex``, ``.html``, ``.json``), with costs if there are files *usage* by name. Raises
    ``DataError``, ``UsageError`` and ``OutputError``.
    """
    apart = ("gold", "predictions", "detector", "usage", "table", "keep", "plots")
    given = {name: value for name, value in locals().items() if name not in (*apart, "apart")}
    from piiloom.cli.compare_detectors import asked_detectors, detector_folder  # noqa: PLC0415 - few scripts want them, all would load them
    from piiloom.cli.compare_options import CompareCommand  # noqa: PLC0415
    from piiloom.cli.comparing import named_systems, run_comparison  # noqa: PLC0415

    by_name = predictions if isinstance(predictions, Mapping) else named_systems([str(path) for path in predictions])
    unknown = sorted((usage or {}).keys() - by_name.keys())
    if unknown:
        raise UsageError(f"no system is called {unknown[0]!r}", where="usage", remedy=f"The systems: {', '.join(by_name)}")
    asked = asked_detectors(detector, tuple(by_name))
    kept = None if keep is None else Path(keep)
    with record_files({"gold": gold}) as gold_path, record_files(by_name) as systems, detector_folder(kept) as folder:
        request = CompareCommand(
            **_fields({**gold_path, **given}), table=[Path(path) for path in table], plots=None if plots is None else Path(plots)
        )
        tokens = {name: Path(path) for name, path in (usage or {}).items()}
        return run_comparison(request, systems, tokens, asked, folder).comparison


@contextmanager
def record_files(given: Mapping[str, FileOrRecords]) -> Iterator[dict[str, Path]]:
    """Give a file for each of *given*: records are written to a temporary one in the native format."""
    with ExitStack() as stack:
        paths: dict[str, Path] = {}
        for name, one in given.items():
            if isinstance(one, str | Path):
                paths[name] = Path(one)
                continue
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="piiloom-")))
            paths[name] = folder / (re.sub(r"[^\w.-]+", "_", name)[:80] + ".jsonl")
            NativeFormat().write(one, paths[name], WriteOptions(taxonomy=shipped_taxonomy()))
        yield paths


def _fields(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the command for *keywords*. Raises ``UsageError`` for what the command line cannot say."""
    fields = {_FIELDS.get(name, name): value for name, value in keywords.items()}
    for name in _PATHS & fields.keys():
        fields[name] = None if fields[name] is None else Path(fields[name])
    for name in _WORDS & fields.keys():
        fields[name] = _in_one(fields[name], name)
    for name in _LISTS & fields.keys():
        fields[name] = [fields[name]] if isinstance(fields[name], str) else list(fields[name])
    if fields["columns"] is not None:
        fields["columns"] = [f"{name}={column}" for name, column in fields["columns"].items()]
    return fields


def _in_one(given: Sequence[str] | None, keyword: str) -> str | None:
    """Return the words *given* as the command line has them. Raises ``UsageError`` for a word with a comma, which it cannot say."""
    if given is None or isinstance(given, str):
        return given
    for word in given:
        if "," in word:
            raise UsageError(f"{word!r} holds a comma", where=keyword, remedy="Give words without commas")
    return ",".join(given)
