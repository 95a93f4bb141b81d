"""Values by a model for ``piiloom surrogate run``: what leaves the machine is said, agreed to, asked, and handed to the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from piiloom.cli.surrogate_options import RunOptions
from piiloom.cli.terminal import say_aside
from piiloom.foundation.errors import UsageError
from piiloom.foundation.scratch_places import scratch_folder
from piiloom.surrogates.engine_factory import EngineFactory
from piiloom.surrogates.inputs.parts import InputSettings

if TYPE_CHECKING:
    from piiloom.surrogates.by_model.drawing import AskProgress, Drawn


@contextmanager
def values_by_model(
    options: RunOptions,
    inputs: InputSettings,
    factory: EngineFactory,
    *,
    agree: Callable[[str], bool] | None,
    asking: Callable[[], AbstractContextManager[Callable[[AskProgress], None]]],
) -> Iterator[tuple[EngineFactory, Drawn | None]]:
    """The factory that knows the model's values, and what was drawn; the factory as it is where code draws all values.

    *agree* None: nobody is there to agree to what would leave this machine. *asking* opens a view of the progress.
    """
    if options.values == "local":
        if options.provider or options.model or options.base_url:
            raise UsageError("a provider is used with --values llm only", where="--provider", remedy="Add --values llm.")
        yield factory, None
        return
    if not options.provider:
        raise UsageError("no provider is given", where="--values llm", remedy="Add --provider openai, anthropic or compatible.")
    if agree is None:
        raise UsageError(
            "sending sentences to a provider must be confirmed, and there is no terminal to ask", where="--values llm", remedy="Add --yes."
        )
    # What asks a model takes half a second to load, and most runs ask none.
    from piiloom.surrogates.by_model.drawing import draw_by_model  # noqa: PLC0415
    from piiloom.surrogates.by_model.terms import ModelOptions  # noqa: PLC0415

    model_options = ModelOptions(
        provider=options.provider,
        model=options.model,
        base_url=options.base_url,
        concurrency=options.concurrency,
        budget_usd=options.budget_usd,
        prices=options.price,
        unpriced=options.unpriced,
    )
    out = options.out
    out.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(f".{out.name}.values-", out.parent) as spool:
        with asking() as watch:
            drawn = draw_by_model(inputs, factory, model_options, store=options.store, folder=spool, agree=agree, watch=watch)
        yield replace(factory, given=drawn.values), drawn


def agreement(yes: bool) -> Callable[[str], bool]:
    """Say what would leave this machine, and ask for agreement unless it was given beforehand (*yes*)."""

    def agree(words: str) -> bool:
        say_aside(words)
        return yes or typer.confirm("Send these sentences?", err=True)

    return agree
