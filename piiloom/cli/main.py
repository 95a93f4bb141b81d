"""The commands, and how their errors come out: one line on standard error and an exit code: 1 failed, 2 usage.

``--debug`` adds the traceback, ``--json`` an object on standard output.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Final

import typer
from typer.main import get_command

from piiloom.cli.failing import DEBUG, JSON, failure_of, tell
from piiloom.cli.options import examples
from piiloom.cli.terminal import forget_json, tolerate_any_text
from piiloom.foundation.interrupts import interrupted, noted_interrupts
from piiloom.foundation.startup import open_closed_streams
from piiloom.foundation.version import __version__

# What Typer makes of a Ctrl-C that no command has handled.
_INTERRUPTED = 130

# The commands in the order of the help: the module of each (beside this one), and the function or the group in it. Only those that are
# asked for are loaded.
_COMMANDS: Final = {
    "generate": ("generate_cmd", "generate"),
    "stages": ("stages_cmd", "stages_app"),
    "runs": ("runs_cmd", "runs_app"),
    "records": ("records_cmd", "records_app"),
    "trace": ("trace_cmd", "trace"),
    "cost": ("cost_cmd", "cost"),
    "rejects": ("ledger_cmd", "rejects"),
    "journal": ("journal_cmd", "journal_app"),
    "batch": ("batch_cmd", "batch_app"),
    "import": ("import_cmd", "import_file"),
    "annotate": ("annotate_cmd", "annotate"),
    "annotators": ("annotators_cmd", "annotators_app"),
    "release": ("release_cmd", "release"),
    "releases": ("releases_cmd", "releases_app"),
    "export": ("export_cmd", "export"),
    "surrogate": ("surrogate_cmd", "surrogate_app"),
    "probe": ("probe_cmd", "probe"),
    "evaluate": ("evaluate_cmd", "evaluate"),
    "compare": ("compare_cmd", "compare"),
    "utility": ("utility_cmd", "utility"),
    "reidentify": ("reidentify_cmd", "reidentify"),
    "report": ("report_cmd", "report"),
    "train": ("train_cmd", "train_app"),
    "detect": ("detect_cmd", "detect"),
    "entities": ("entities_cmd", "entities_app"),
    "benchmark": ("benchmark_cmd", "benchmark_app"),
    "locales": ("locales_cmd", "locales_app"),
    "types": ("types_cmd", "types_app"),
    "names": ("names_cmd", "names_app"),
    "stories": ("stories_cmd", "stories_app"),
    "doctor": ("doctor_cmd", "doctor"),
}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"piiloom {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Show the traceback of an error. Can be given anywhere on the command line.")] = False,
) -> None:
    """Declare the options of all commands; ``run`` reads ``--debug`` itself, since it also holds for faults in options."""


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
        module, attribute = _COMMANDS[name]
        loaded = import_module(f"piiloom.cli.{module}")
        command = getattr(loaded, attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, epilog=loaded.EPILOG)(command)
    return app


def run(argv: Sequence[str] | None = None, invoke: Callable[[list[str]], object] | None = None) -> int:
    """Run the command line *argv* (that of the process when None) by *invoke* (``piiloom`` when None); gives the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    open_closed_streams()
    tolerate_any_text()
    forget_json()
    with noted_interrupts():
        try:
            code = _exit_code((invoke or _piiloom)([word for word in given if word != DEBUG]))
            sys.stdout.flush()
        except BrokenPipeError:
            return _unread()
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last boundary: whatever comes becomes a line and an exit code
            if DEBUG in given:
                import traceback  # noqa: PLC0415 - it reads sources, for which it loads more

                traceback.print_exc()
            failure = failure_of(error, interrupted=interrupted())
            code = failure.exit_code
            try:
                tell(failure, as_json=JSON in given)
                sys.stdout.flush()
            except BrokenPipeError:
                return _unread()
            except OSError:  # the error told is that nothing can be written there
                return code
    return code


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
    """The command *name* with its options; all of them where that is none. Made once a process for whoever runs several."""
    return get_command(app_of([name]) if name in _COMMANDS else app_of())
