"""``piiloom.evaluate`` and ``piiloom.compare``, which ``piiloom.api`` offers. Files may also be lists of records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.native import NativeFormat
from piiloom.corpus.record import Record
from piiloom.foundation.errors import UsageError

if TYPE_CHECKING:
    from piiloom.evaluation.bias.collecting import Match
    from piiloom.evaluation.comparison.comparing import Comparison
    from piiloom.evaluation.evaluation_figures import Evaluation
    from piiloom.evaluation.schemes.base import Undefined
    from piiloom.evaluation.scoring.groups import Weight

# A file, or records at hand.
FileOrRecords = str | Path | Sequence[Record]


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
    from piiloom.cli.evaluate_options import EvaluateCommand  # noqa: PLC0415 - few scripts want them, all would load them
    from piiloom.cli.evaluating import run_evaluation  # noqa: PLC0415

    with _files({"gold": gold, "predictions": predictions}) as paths:
        request = EvaluateCommand(
            gold=paths["gold"],
            predictions=paths["predictions"],
            schemes=[schemes] if isinstance(schemes, str) else list(schemes),
            beta=list(beta),
            undefined=undefined,
            by=by,
            weight=weight,
            weights=_path(weights),
            token_probabilities=_path(token_probabilities),
            may_stay=_listed(may_stay, "may_stay"),
            cluster=cluster,
            resamples=resamples,
            confidence=confidence,
            seed=seed,
            bias=bias,
            bias_match=bias_match,
            usage=_path(usage),
            model=model,
            file_format=format,
            gold_format=gold_format,
            predictions_format=pred_format,
            columns=_columns(columns),
            type_map=_path(map),
            types=_listed(types, "types"),
            locale=locale,
            skip_values=skip_values,
            out=_path(out),
            gallery_limit=gallery_limit,
            force=force,
        )
        return run_evaluation(request)[0]


def compare(
    gold: FileOrRecords,
    predictions: Mapping[str, FileOrRecords] | Sequence[str | Path],
    *,
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
    """Rank systems by their *predictions* for *gold*, with intervals and tests of the differences.

    *predictions*: files (or lists of records) by the name of the system, or a list of files, whose names are taken. The other keywords
    are the options of ``piiloom compare``, with its defaults. ``comparison.systems`` are all systems, the best first, each with ``name``,
    ``rank``, ``figures`` and ``intervals``. The table is also written to the files *table* (``.md``, ``.tex``, ``.html``, ``.json``), with
    costs if there are files *usage* by name. Raises ``DataError``, ``UsageError`` and ``OutputError``.
    """
    from piiloom.cli.compare_options import CompareCommand  # noqa: PLC0415 - few scripts want them, all would load them
    from piiloom.cli.comparing import named_systems, run_comparison  # noqa: PLC0415

    by_name = predictions if isinstance(predictions, Mapping) else named_systems([str(path) for path in predictions])
    unknown = sorted((usage or {}).keys() - by_name.keys())
    if unknown:
        raise UsageError(f"no system is called {unknown[0]!r}", where="usage", remedy=f"The systems: {', '.join(by_name)}")
    with _files({"gold": gold}) as gold_paths, _files(by_name) as systems:
        request = CompareCommand(
            gold=gold_paths["gold"],
            predictions=[],
            scheme=scheme,
            beta=list(beta),
            by=by,
            lowest=lowest,
            cluster=cluster,
            confidence=confidence,
            resamples=resamples,
            permutations=permutations,
            seed=seed,
            file_format=format,
            gold_format=gold_format,
            predictions_format=pred_format,
            columns=_columns(columns),
            type_map=_path(map),
            types=_listed(types, "types"),
            locale=locale,
            skip_values=skip_values,
            table=[Path(path) for path in table],
        )
        return run_comparison(request, systems, {name: Path(path) for name, path in (usage or {}).items()})[0]


@contextmanager
def _files(given: Mapping[str, FileOrRecords]) -> Iterator[dict[str, Path]]:
    """Give a file for each of *given*: records are written to a temporary one in the native format."""
    with ExitStack() as stack:
        paths: dict[str, Path] = {}
        for number, (name, one) in enumerate(given.items()):
            if isinstance(one, str | Path):
                paths[name] = Path(one)
                continue
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="piiloom-")))
            paths[name] = folder / f"{name if name in ('gold', 'predictions') else f'system-{number + 1}'}.jsonl"
            NativeFormat().write(one, paths[name], WriteOptions())
        yield paths


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)


def _listed(given: Sequence[str] | None, keyword: str) -> str | None:
    """Return *given* as the command line has it. Raises ``UsageError`` for a word with a comma, which it cannot say."""
    if given is None or isinstance(given, str):
        return given
    for word in given:
        if "," in word:
            raise UsageError(f"{word!r} holds a comma", where=keyword, remedy="Give words without commas")
    return ",".join(given)


def _columns(given: Mapping[str, str] | None) -> list[str] | None:
    return None if given is None else [f"{name}={column}" for name, column in given.items()]
