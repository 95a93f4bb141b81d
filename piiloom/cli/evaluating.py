"""The work behind ``piiloom evaluate``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from piiloom.cli.evaluate_options import EvaluateCommand
from piiloom.cli.evaluation_progress import shown_documents
from piiloom.cli.evaluation_reading import input_options
from piiloom.cli.evaluation_tables import print_evaluation
from piiloom.cli.terminal import say, say_json
from piiloom.evaluation.bias.collecting import BiasCollector, Match
from piiloom.evaluation.cost.costing import CostCollector, model_source, usage_source
from piiloom.evaluation.evaluating import Watch, evaluate
from piiloom.evaluation.evaluation_figures import Evaluation, EvaluationSettings
from piiloom.evaluation.evaluation_folder import PLOTS, EvaluationFolder
from piiloom.evaluation.gallery.collector import DEFAULT_LIMIT, GalleryOptions
from piiloom.evaluation.inputs.documents import NEEDS, Needs
from piiloom.evaluation.schemes.base import Scheme, SchemeOptions, Undefined
from piiloom.evaluation.schemes.registry import SCHEMES, make_scheme
from piiloom.evaluation.scoring.bootstrap import Resampling
from piiloom.evaluation.scoring.collector import Collector
from piiloom.evaluation.scoring.groups import Weight
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted

DEFAULT_SCHEME = "exact"


@dataclass(slots=True, kw_only=True)
class _Views:
    """What looks at the same pairs besides the schemes."""

    bias: BiasCollector | None = None
    cost: CostCollector | None = None
    folder: EvaluationFolder | None = None
    collectors: list[Collector] = field(default_factory=list)


def evaluate_and_report(request: EvaluateCommand) -> None:
    """Evaluate and print the figures; what is wrong with the request comes out before anything is read."""
    with shown_documents(wanted=not request.as_json) as watch:
        evaluation, files = run_evaluation(request, watch)
    if request.as_json:
        say_json(evaluation.to_json() | {"out": None if request.out is None else str(request.out), "files": files})
        return
    print_evaluation(evaluation)
    if request.out is not None:
        whole = [name for name in files if not name.startswith(f"{PLOTS}/")]
        plots = len(files) - len(whole)
        say(f"written to {request.out}: {', '.join(whole)}" + (f" and {counted(plots, 'file')} in {PLOTS}/" if plots else ""))


def run_evaluation(request: EvaluateCommand, watch: Watch | None = None) -> tuple[Evaluation, list[str]]:
    """Evaluate, and write the folder if one is asked for; return the figures and the names of its files.

    Raises ``UsageError``, ``DataError`` and ``OutputError``; then nothing is written.
    """
    schemes, settings = _schemes(request), _settings(request)
    with ExitStack() as stack:
        views = _views(request, stack)
        asked = {scheme.needs for scheme in schemes}
        needs: Needs = next(each for each in NEEDS if each in asked)
        collectors: dict[Needs, list[Collector]] = {needs: views.collectors}
        if views.folder is not None:  # errors are shown in their places
            collectors.setdefault("places", []).append(views.folder.gallery)
        evaluation = evaluate(request.gold, request.predictions, schemes, settings, collectors=collectors, watch=watch)
        bias = None if views.bias is None else views.bias.figures(_resampling(request))
        cost = None if views.cost is None else views.cost.figures()
        evaluation = replace(evaluation, bias=bias, cost=cost)
        files = [] if views.folder is None else views.folder.write(evaluation.to_json(), title=_title(evaluation), bias=bias)
    return evaluation, files


def _schemes(request: EvaluateCommand) -> list[Scheme]:
    """Make the schemes; raises ``UsageError`` for an unknown one, or one that is named twice."""
    options = SchemeOptions(
        beta=tuple(request.beta or ()),
        undefined=_one_of(request.undefined, Undefined, "--undefined"),
        weights=request.weights,
        token_probabilities=request.token_probabilities,
        may_stay=tuple(_parts(request.may_stay or "")),
    )
    names = [DEFAULT_SCHEME] if request.schemes is None else [name for given in request.schemes for name in _parts(given)]
    if not names:
        raise UsageError("no scheme is named", where="--scheme", remedy=f"Known schemes: {', '.join(SCHEMES)}")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the scheme {name!r} is named twice", where="--scheme", remedy="Name it once")
    _refuse_without_effect(request, names)
    return [make_scheme(name, options) for name in names]


def _refuse_without_effect(request: EvaluateCommand, names: Sequence[str]) -> None:
    """Raise ``UsageError`` for an option that none of the schemes *names* looks at."""
    given = {"--weights": request.weights, "--token-probabilities": request.token_probabilities, "--may-stay": request.may_stay}
    for option, value in given.items():
        users = ("tab", "privacy") if option == "--weights" else ("tab",)
        if value is not None and not set(users) & set(names):
            raise UsageError(
                f"only the scheme {' or '.join(users)} uses it", where=option, remedy=f"Add --scheme {users[0]}, or leave it out"
            )


def _settings(request: EvaluateCommand) -> EvaluationSettings:
    """Make the settings; raises ``UsageError`` for what makes no sense, and ``DataError`` for a map that cannot be read."""
    return EvaluationSettings(
        inputs=input_options(request),
        cluster=request.cluster,
        resampling=None if request.resamples == 0 else _resampling(request),
        by=request.by,
        weight=_one_of(request.weight, Weight, "--weight"),
    )


def _resampling(request: EvaluateCommand) -> Resampling:
    """Return how to resample; as often as usual if no intervals are asked for, since figures of bias have them anyway."""
    return Resampling(rounds=request.resamples or Resampling().rounds, confidence=request.confidence, seed=request.seed)


def _views(request: EvaluateCommand, stack: ExitStack) -> _Views:
    views = _Views()
    match: Match = _one_of(request.bias_match, Match, "--bias-match")
    if request.bias is not None:
        if request.resamples == 1:
            raise UsageError("an interval of --bias needs at least 2 resamples", where="--resamples", remedy="1,000 is usual")
        views.bias = BiasCollector(request.bias, match)
        views.collectors.append(views.bias)
    if request.usage is not None and request.model is not None:
        raise UsageError("--usage and --model both say what the predictions cost", remedy="Give one of them")
    if request.usage is not None:
        views.cost = CostCollector(usage_source(request.usage))
    elif request.model is not None:
        views.cost = CostCollector(model_source(request.model))
    if views.cost is not None:
        views.collectors.append(views.cost)
    if request.out is not None:
        limit = DEFAULT_LIMIT if request.gallery_limit is None else request.gallery_limit
        views.folder = stack.enter_context(
            EvaluationFolder(request.out, GalleryOptions(limit=limit, seed=request.seed), force=request.force)
        )
    elif request.gallery_limit is not None:
        raise UsageError("without --out there is no page", where="--gallery-limit", remedy="Name a folder with --out")
    return views


def _title(evaluation: Evaluation) -> str:
    return f"Errors of {Path(evaluation.inputs.found.file).name}"


def _one_of(word: str, known: Any, option: str) -> Any:
    """Return *word* if it is one of the literals *known*; raises ``UsageError``."""
    if word not in get_args(known):
        raise UsageError(f"unknown word {word!r}", where=option, remedy=f"One of: {', '.join(get_args(known))}")
    return word


def _parts(text: str) -> list[str]:
    return [part for piece in text.split(",") if (part := piece.strip())]
