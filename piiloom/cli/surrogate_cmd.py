"""``piiloom surrogate``: put realistic surrogates where a corpus was redacted."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from piiloom.cli.options import JsonOption
from piiloom.cli.surrogate_options import InputOptions, KeepOption, LocaleOption, PlaceholdersOption, RunOptions
from piiloom.cli.terminal import examples
from piiloom.generation.settings.command_line_options import parameters_of

_OF_SPANS: Final = ("spans", "spans_field")
Command = Callable[..., None]

_RUN = (
    "piiloom surrogate run notes/ --out filled",
    "piiloom surrogate run chats.csv --text-field message --out filled --locale en_GB",
    "piiloom surrogate run rulings.zip --out filled --locale nl_NL --placeholders mapping.yaml --on-unknown error",
    "piiloom surrogate run gold.jsonl --spans --out filled --strategy markov --leakage 0.05",
    "piiloom surrogate run notes/ --out filled --values llm --provider compatible --base-url http://localhost:11434/v1 --model llama3",
)
_SURVEY = (
    "piiloom surrogate survey notes/ --out mapping.yaml --locale es_ES",
    "piiloom surrogate survey chats.csv --text-field message --json",
)
_LEAKAGE = ("piiloom surrogate leakage notes/ --miss 0.001,0.01,0.05", "piiloom surrogate leakage notes/ --out leakage/ --locale nl_NL")
_CHECK = ("piiloom surrogate check filled notes/",)
_RESTORE = ("piiloom surrogate restore filled --vault notes.vault --out notes-again",)

surrogate_app = typer.Typer(
    help='Replace placeholders by realistic, consistent surrogates ("hidden in plain sight"), with exact offsets.',
    epilog=examples(_RUN[0], _SURVEY[0], *_CHECK, *_RESTORE, _LEAKAGE[0]),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def takes_options(*, spans: bool = True) -> Callable[[Command], Command]:
    """Give a command the options of each of its parameters that is a dataclass of options; those of spans only with *spans*."""

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        groups = {name: own.annotation for name, own in signature.parameters.items() if own.annotation in {InputOptions, RunOptions}}
        taken = {name: parameters_of(group, leave_out=() if spans else _OF_SPANS) for name, group in groups.items()}

        @wraps(command)
        def call(**given: Any) -> None:
            made = {name: groups[name](**{one.name: given.pop(one.name) for one in parameters}) for name, parameters in taken.items()}
            command(**made, **given)

        parameters: list[inspect.Parameter] = []
        for own in signature.parameters.values():
            parameters += taken.get(own.name) or [own.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
        vars(call)["__signature__"] = signature.replace(parameters=parameters)  # where Typer looks for the options
        return call

    return decorate


@surrogate_app.command("run", epilog=examples(*_RUN))
@surrogate_app.command("fill", epilog=examples(*(line.replace(" run ", " fill ", 1) for line in _RUN)))
@takes_options()
def run(inputs: InputOptions, options: RunOptions, as_json: JsonOption = False) -> None:
    """Put surrogates into a redacted corpus: one person for each role and number, groups in balance, every offset exact.

    DIR appears when everything is there; a run that is stopped leaves nothing. run and fill are one command.
    """
    from piiloom.cli.surrogate_running import run_corpus
    from piiloom.cli.surrogate_view import print_report, terminal_observer

    print_report(run_corpus(inputs, options, terminal_observer(yes=options.yes)), as_json=as_json)


@surrogate_app.command("survey", epilog=examples(*_SURVEY))
@takes_options(spans=False)
def survey(
    inputs: InputOptions,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the mapping here, to be edited; on standard output when not given.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    locale: Annotated[
        str | None,
        typer.Option("--locale", help="Language and country of the texts, as in es_ES; told by their commonest words when not given."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Learn the placeholders of a corpus: what each means, how sure that is, what is unknown, what is left alone."""
    from piiloom.cli.surrogate_view import survey_and_report

    survey_and_report(inputs, out, locale, force=force, as_json=as_json)


@surrogate_app.command("leakage", epilog=examples(*_LEAKAGE))
@takes_options()
def leakage(
    inputs: InputOptions,
    miss: Annotated[
        str, typer.Option("--miss", metavar="RATE,…", help="Shares of mentions that de-identification misses.")
    ] = "0.001,0.005,0.01,0.02,0.05,0.1",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also write leakage.json and a plot (the plot needs the report extra).")
    ] = None,
    placeholders: PlaceholdersOption = "auto",
    locale: LocaleOption = "en_US",
    keep: KeepOption = 0.5,
    names: Annotated[Path | None, typer.Option("--names", metavar="FILE", help="A names index that piiloom names build made.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate for a corpus how often its documents would leak recognisably, under each strategy, and what a known pool tells.

    The assumptions stand in docs/surrogates.md.
    """
    from piiloom.cli.surrogate_leakage import estimate_and_report

    estimate_and_report(inputs, miss, out, placeholders=placeholders, locale=locale, keep=keep, names=names, as_json=as_json)


@surrogate_app.command("check", epilog=examples(*_CHECK))
def check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What run made.")],
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="What it was made of.")],
    as_json: JsonOption = False,
) -> None:
    """Check that nothing but the placeholders changed: the input is read again and compared code point by code point."""
    from piiloom.cli.surrogate_view import check_and_report

    check_and_report(folder, source, as_json=as_json)


@surrogate_app.command("restore", epilog=examples(*_RESTORE))
def restore(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What run made.")],
    vault: Annotated[Path, typer.Option("--vault", metavar="FILE", help="The vault that the same run wrote.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to make, with the files of the input.")],
    as_json: JsonOption = False,
) -> None:
    """Reverse a run: put the originals of its vault back, and compare the files with the input's digests."""
    from piiloom.cli.surrogate_view import restore_and_report

    restore_and_report(folder, vault, out, as_json=as_json)
