"""``python -m generation.<stage>``: one stage from the shell, over what waits for it in the store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.generation.configuration import RunConfig, make_config, read_config
from piiloom.generation.pipeline import STAGE_NAMES
from piiloom.generation.progress import RunProgress, Watch, unwatched
from piiloom.generation.sitting import begin, sit, take_up
from piiloom.generation.stage_run import check_stage

DEFAULT_STORE = Path("outputs/piiloom.duckdb")


def run_stage_command(
    stage: str,
    store_path: Path,
    *,
    run_id: str | None = None,
    overrides: dict[str, Any] | None = None,
    config_path: Path | None = None,
    watch: Watch = unwatched,
) -> RunProgress:
    """Run *stage* on run *run_id* ("last" when None); the first stage starts a new run when settings are given.

    Raises ``UsageError`` for an unknown stage and for settings given to any other stage than the first.
    """
    check_stage(stage)
    overrides = overrides or {}
    fresh = run_id is None and stage == STAGE_NAMES[0]
    if not fresh and (config_path or set(overrides) - {"concurrency"}):
        raise UsageError("settings belong to the start of a run", remedy=f"Give them to the stage {STAGE_NAMES[0]}, without a run id")
    config = _config(config_path, overrides) if fresh else None
    with Store.open(store_path, create=fresh) as store:
        if config is not None:
            return sit(store, *begin(store, config), stage=stage, watch=watch)
        run = get_run(store, run_id or "last")
        return sit(store, *take_up(store, run, concurrency=overrides.get("concurrency")), stage=stage, watch=watch)


def _config(path: Path | None, overrides: dict[str, Any]) -> RunConfig:
    return read_config(path, overrides) if path else make_config(overrides)


def main(stage: str) -> None:
    """Be the command line of *stage*; errors are one line on stderr, without a traceback."""
    module = sys.modules["__main__"]
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    example = f"Example:\n\n  python -m generation.{stage} --store outputs/piiloom.duckdb"
    first = f"{example} --samples 100 --seed 7\n\n(the first stage starts the run)"
    app.command(help=module.__doc__, epilog=first if stage == STAGE_NAMES[0] else example)(
        _first(stage) if stage == STAGE_NAMES[0] else _later(stage)
    )
    try:
        app()
    except PiiloomError as error:
        typer.echo(f"error: {error}", err=True)
        raise SystemExit(error.exit_code) from None


StoreOption = Annotated[Path, typer.Option("--store", help="The DuckDB file of the workspace.")]
RunOption = Annotated[str | None, typer.Option("--run", help="The run to work on; the newest when not given.")]
ConcurrencyOption = Annotated[int | None, typer.Option("--concurrency", min=1, help="How many items are worked on at once.")]


def _later(stage: str) -> Any:
    def command(store: StoreOption = DEFAULT_STORE, run: RunOption = None, concurrency: ConcurrencyOption = None) -> None:
        overrides = {} if concurrency is None else {"concurrency": concurrency}
        _report(stage, run_stage_command(stage, store, run_id=run, overrides=overrides))

    return command


def _first(stage: str) -> Any:
    def command(
        store: StoreOption = DEFAULT_STORE,
        run: RunOption = None,
        concurrency: ConcurrencyOption = None,
        samples: Annotated[int | None, typer.Option(help="How many records are wanted in the end.")] = None,
        provider: Annotated[str | None, typer.Option(help="composer, openai, anthropic or compatible.")] = None,
        model: Annotated[str | None, typer.Option(help="The provider's model.")] = None,
        base_url: Annotated[str | None, typer.Option(help="Where a compatible server listens.")] = None,
        pairs: Annotated[str | None, typer.Option(help='"all" or for example "health+occupation,age+belief".')] = None,
        locale: Annotated[str | None, typer.Option(help="Locale of texts and values, such as en_US.")] = None,
        seed: Annotated[int | None, typer.Option(help="Same seed, same records.")] = None,
        bank: Annotated[Path | None, typer.Option(help="A bank file of your own for the composer, or a folder of them.")] = None,
        types: Annotated[Path | None, typer.Option(help="A YAML file with entity types of your own.")] = None,
        config: Annotated[Path | None, typer.Option(help="A YAML run file; options win over it.")] = None,
    ) -> None:
        given = {
            "samples": samples,
            "provider": provider,
            "model": model,
            "base_url": base_url,
            "pairs": pairs,
            "locale": locale,
            "seed": seed,
            "concurrency": concurrency,
            "bank": bank,
            "types": types,
        }
        overrides = {key: value for key, value in given.items() if value is not None}
        _report(stage, run_stage_command(stage, store, run_id=run, overrides=overrides, config_path=config))

    return command


def _report(stage: str, progress: RunProgress) -> None:
    reasons = "; ".join(f"{reason} {number}" for reason, number in progress.reasons.most_common())
    typer.echo(f"{progress.run_id} {stage}: {progress.accepted} done, {progress.rejected} rejected" + (f" ({reasons})" if reasons else ""))
    if progress.status == "interrupted":
        typer.echo(f"interrupted; go on with: python -m generation.{stage} --run {progress.run_id}", err=True)
        raise SystemExit(1)
