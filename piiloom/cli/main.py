"""The commands, and how their errors come out: one line on standard error and an exit code: 1 failed, 2 usage.

``--debug`` adds the traceback, ``--json`` an object on standard output.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer
from typer.exceptions import Abort, TyperException
from typer.main import get_command

from piiloom.cli.terminal import Verbosity, examples, forget_json, json_begun, say_error, say_json, set_verbosity, tolerate_any_text
from piiloom.foundation.errors import Interrupted, PiiloomError, UsageError
from piiloom.foundation.interrupts import interrupted, noted_interrupts
from piiloom.foundation.startup import open_closed_streams
from piiloom.foundation.version import __version__

# What Typer makes of a Ctrl-C that no command has handled.
_INTERRUPTED = 130
# Options that can be given anywhere on the command line.
_EVERYWHERE = "With every command, anywhere on the line"
DEBUG, QUIET, VERBOSE, LOG_FILE = "--debug", ("--quiet", "-q"), ("--verbose", "-v"), "--log-file"


# The commands in the order of the help: the module beside this one, which is loaded only if the command is asked for, the function or group
# in it, the panel of the help, and the line there.
_COMMANDS: Final = {
    "generate": ("generate", "generate", "Make records", "Generate records until the wanted number is accepted."),
    "stages": ("stages", "stages_app", "Make records", "List the stages of a run, or run single ones."),
    "stories": ("stories", "stories_app", "Make records", "Check and show stories of the composer."),
    "import": ("import_file", "import_file", "Make records", "Import a file, and report every row and value that is left out."),
    "runs": ("runs", "runs_app", "Look into a store", "List, show and delete the runs of a store."),
    "records": ("records", "records_app", "Look into a store", "List, show and search the records of a store."),
    "trace": ("trace_item", "trace", "Look into a store", "Show how a record or a reject was made: calls, verdicts and costs."),
    "rejects": ("trace_item", "rejects", "Look into a store", "List the rejects of a run, with reasons and how to retry each."),
    "cost": ("cost", "cost", "Look into a store", "Show the cost of runs, by stage, model and accepted record."),
    "journal": ("paid_calls", "journal_app", "Look into a store", "Sum up the paid calls of runs; export, purge or compact them."),
    "batch": ("paid_calls", "batch_app", "Look into a store", "List the batches of runs made with --batch, and cancel open ones."),
    "annotate": ("annotate", "annotate", "Annotate and release", "Serve the annotation app in the browser, until Ctrl-C."),
    "annotators": ("annotate", "annotators_app", "Annotate and release", "Make and change the accounts of annotators."),
    "release": ("releases", "release", "Annotate and release", "Freeze records into train and test splits that never change."),
    "releases": ("releases", "releases_app", "Annotate and release", "List, show, compare and delete the releases of a store."),
    "export": ("releases", "export", "Annotate and release", "Write a release to files that trainers load."),
    "report": ("report", "report", "Annotate and release", "Measure the diversity of records, and leaks of relevance."),
    "surrogate": ("surrogate", "surrogate_app", "Replace and detect", "Replace placeholders by realistic, consistent surrogates."),
    "detect": ("detect", "detect", "Replace and detect", "Find personal information in texts: places, types and scores."),
    "train": ("train", "train_app", "Replace and detect", "Train a detector: an encoder, a spaCy pipeline, an LLM adapter."),
    "probe": ("probe", "probe", "Replace and detect", "Train a small fixed detector on TRAIN and test it on each TEST."),
    "evaluate": ("evaluate", "evaluate", "Evaluate", "Compare predictions with gold spans: scores with intervals."),
    "compare": ("evaluate", "compare", "Evaluate", "Rank systems by their predictions, with tests of differences."),
    "utility": ("utility", "utility", "Evaluate", "Measure the utility of masked contexts, and their disclosure."),
    "reidentify": ("report", "reidentify", "Evaluate", "Attack a corpus by fixed rules, and count unique documents."),
    "benchmark": ("benchmark", "benchmark_app", "Evaluate", "Make the benchmark of detectors, in 13 locales."),
    "types": ("lookups", "types_app", "Look up", "List entity types, and begin your own."),
    "entities": ("entities", "entities_app", "Look up", "Look up and try the entity catalogue of the detectors."),
    "locales": ("lookups", "locales_app", "Look up", "List the locales that commands take."),
    "names": ("lookups", "names_app", "Look up", "Look up names in the names index, and build the large one."),
    "prices": ("lookups", "prices_app", "Look up", "Compare the list of models and prices with the one of LiteLLM."),
    "doctor": ("doctor", "doctor", "Look up", "Check packages, keys (by name only), servers, store and bank."),
}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"piiloom {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
    quiet: Annotated[
        bool, typer.Option(*QUIET, rich_help_panel=_EVERYWHERE, help="Print nothing but errors, and JSON with --json.")
    ] = False,
    verbose: Annotated[bool, typer.Option(*VERBOSE, rich_help_panel=_EVERYWHERE, help="Print log lines on standard error.")] = False,
    log_file: Annotated[
        Path | None,
        typer.Option(LOG_FILE, metavar="FILE", rich_help_panel=_EVERYWHERE, help="Append log lines to this file, also with --quiet."),
    ] = None,
    debug: Annotated[bool, typer.Option(DEBUG, rich_help_panel=_EVERYWHERE, help="Print the traceback of an error.")] = False,
) -> None:
    """Declare the options that can be given anywhere on the command line; ``run`` reads them, as they hold for faults in options, too."""


def app_of(names: Iterable[str] = tuple(_COMMANDS)) -> typer.Typer:
    """Return ``piiloom`` with the commands *names*; loading all takes 100 ms."""
    app = typer.Typer(
        name="piiloom",
        help="Weave synthetic, context-aware PII datasets: generate, screen, release. Every span is exact.",
        epilog=examples(
            "piiloom generate --samples 200 --seed 7",
            "piiloom release --name v1 --test-size 0.1",
            "piiloom export --release v1 --format native --out outputs/v1",
            "piiloom COMMAND --help",
        ),
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name in names:
        module, attribute, panel, about = _COMMANDS[name]
        loaded = import_module(f"piiloom.cli.{module}")
        command = getattr(loaded, attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, short_help=about, rich_help_panel=panel)
        else:
            app.command(name, epilog=getattr(loaded, f"{attribute.upper()}_EXAMPLES"), short_help=about, rich_help_panel=panel)(command)
    return app


def _list_of_commands() -> typer.Typer:
    """Return ``piiloom`` as its help shows it: with the names of all commands, of which none is loaded."""
    app = app_of(())
    for name, (_, _, panel, about) in _COMMANDS.items():
        app.command(name, help=about, rich_help_panel=panel)(lambda: None)
    return app


def run(argv: Sequence[str] | None = None, invoke: Callable[[list[str]], object] | None = None) -> int:
    """Run the command line *argv* (that of the process when None) by *invoke* (``piiloom`` when None); gives the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    open_closed_streams()
    tolerate_any_text()
    forget_json()
    with noted_interrupts():
        try:
            words, verbosity = _verbosity(given)
            set_verbosity(verbosity)
            code = _exit_code((invoke or _piiloom)(words))
            sys.stdout.flush()
        except BrokenPipeError:
            return _unread()
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last boundary: whatever comes becomes a line and an exit code
            if DEBUG in given:
                import traceback

                traceback.print_exc()
            failure = failure_of(error, interrupted=interrupted())
            code = failure.exit_code
            try:
                tell_failure(failure, as_json=JSON in given)
                sys.stdout.flush()
            except BrokenPipeError:
                return _unread()
            except OSError:  # the error told is that nothing can be written there
                return code
        finally:
            set_verbosity(Verbosity())
    return code


def _verbosity(given: Sequence[str]) -> tuple[list[str], Verbosity]:
    """Split the options that hold for every command from the other words of the command line."""
    words: list[str] = []
    log_file: str | None = None
    quiet = verbose = False
    rest = iter(given)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            words += [word, *rest]
        elif word in QUIET:
            quiet = True
        elif word in VERBOSE:
            verbose = True
        elif name == LOG_FILE:
            log_file = value if equals else next(rest, "")
            if not log_file:
                raise UsageError("it needs the name of a file", where=LOG_FILE)
        elif word != DEBUG:
            words.append(word)
    return words, Verbosity(quiet=quiet, verbose=verbose and not quiet, log_file=log_file)


def _unread() -> int:
    """Whoever read the output has seen enough. Python would complain once more when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _piiloom(arguments: list[str]) -> object:
    return _commands(arguments[0] if arguments else "")(arguments, prog_name="piiloom", standalone_mode=False)


def _exit_code(returned: object) -> int:
    if returned == _INTERRUPTED:
        raise KeyboardInterrupt
    return returned if isinstance(returned, int) else 0


@cache
def _commands(name: str) -> Callable[..., object]:
    """Return the command *name* with its options; the list of all where there is none of that name."""
    return get_command(app_of([name]) if name in _COMMANDS else _list_of_commands())


JSON = "--json"
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong, where, and what to do next; ``message`` is empty where nothing is to be said."""

    code: str
    message: str
    exit_code: int = 1
    where: str | None = None
    remedy: str | None = None

    @property
    def line(self) -> str:
        """All of it in one line."""
        return str(PiiloomError(self.message, where=self.where, remedy=self.remedy))

    def to_json(self) -> dict[str, object]:
        """The object that programs read."""
        return {"error": {key: value for key, value in asdict(self).items() if key != "exit_code"}}


def code_of(kind: type[PiiloomError]) -> str:
    """The code of the errors of a class."""
    return _WORD.sub("_", kind.__name__.removesuffix("Error") or "failed").lower().removeprefix("piiloom") or "failed"


def failure_of(error: BaseException, *, interrupted: bool) -> Failure:
    """Say what went wrong; never in the words of an unknown exception, which could quote anything.

    An *interrupted* command may fail in any way: then the interruption is what is told.
    """
    if isinstance(error, PiiloomError) and (isinstance(error, Interrupted) or not interrupted):
        return Failure(code=code_of(type(error)), message=error.message, exit_code=error.exit_code, where=error.where, remedy=error.remedy)
    if interrupted or isinstance(error, KeyboardInterrupt):
        return Failure(code=code_of(Interrupted), message="interrupted")
    if isinstance(error, TyperException):
        command = getattr(getattr(error, "ctx", None), "command_path", "piiloom")
        said = _in_plain_words(error).rstrip(".")  # empty where a missing command has brought up the help
        return Failure(code="usage", message=said, exit_code=error.exit_code, remedy=f"See {command} --help")
    if isinstance(error, Abort):
        return Failure(code="aborted", message="aborted")
    if isinstance(error, OSError) and error.strerror:
        return Failure(code="system", message=error.strerror, where=str(error.filename or "operating system"))
    remedy = "piiloom --debug … shows where it comes from (please report it)"
    return Failure(code="unexpected", message=f"unexpected {type(error).__name__}", remedy=remedy)


def _in_plain_words(error: TyperException) -> str:
    """What Typer says of the command line, without the words of pydantic, which checks the values of options for it."""
    said, cause = error.format_message(), error.__cause__
    if cause is not None and type(cause).__name__ == "ValidationError":
        from pydantic import ValidationError

        from piiloom.foundation.schema_faults import plain_words

        if isinstance(cause, ValidationError):
            fault = cause.errors(include_url=False, include_input=False)[0]
            said = said.replace(fault["msg"], plain_words(fault["type"], fault.get("ctx", {})))
    return said


def tell_failure(failure: Failure, *, as_json: bool) -> None:
    """Print it."""
    if failure.message:
        say_error(failure.line)
        if as_json and not json_begun():
            say_json(failure.to_json())
