"""The commands, and how their errors come out: one line on standard error and an exit code: 1 failed, 2 usage.

``--debug`` adds the traceback, ``--json`` an object on standard output.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from copy import copy
from functools import cache
from typing import Annotated

import typer
from typer.main import get_command

from piiloom import __version__
from piiloom.cli import (
    annotate_cmd,
    annotators_cmd,
    batch_cmd,
    benchmark_cmd,
    compare_cmd,
    cost_cmd,
    detect_cmd,
    doctor_cmd,
    entities_cmd,
    evaluate_cmd,
    export_cmd,
    generate_cmd,
    import_cmd,
    journal_cmd,
    ledger_cmd,
    names_cmd,
    probe_cmd,
    records_cmd,
    reidentify_cmd,
    release_cmd,
    releases_cmd,
    report_cmd,
    runs_cmd,
    stages_cmd,
    stories_cmd,
    surrogate_cmd,
    trace_cmd,
    train_cmd,
    utility_cmd,
)
from piiloom.cli.failing import DEBUG, JSON, failure_of, tell
from piiloom.cli.options import examples
from piiloom.cli.terminal import forget_json, tolerate_any_text
from piiloom.foundation.interrupts import interrupted, noted_interrupts
from piiloom.foundation.streams import open_closed_streams

# What Typer makes of a Ctrl-C that no command has handled.
_INTERRUPTED = 130

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


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"piiloom {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Show the traceback of an error. Can be given anywhere on the command line.")] = False,
) -> None:
    """Declare the options of all commands; ``run`` reads ``--debug`` itself, since it also holds for faults in options."""


app.command("generate", epilog=generate_cmd.EPILOG)(generate_cmd.generate)
app.add_typer(stages_cmd.stages_app, name="stages")
app.add_typer(runs_cmd.runs_app, name="runs")
app.add_typer(records_cmd.records_app, name="records")
app.command("trace", epilog=trace_cmd.EPILOG)(trace_cmd.trace)
app.command("cost", epilog=cost_cmd.EPILOG)(cost_cmd.cost)
app.command("rejects", epilog=ledger_cmd.EPILOG)(ledger_cmd.rejects)
app.add_typer(journal_cmd.journal_app, name="journal")
app.add_typer(batch_cmd.batch_app, name="batch")
app.command("import", epilog=import_cmd.EPILOG)(import_cmd.import_file)
app.command("annotate", epilog=annotate_cmd.EPILOG)(annotate_cmd.annotate)
app.add_typer(annotators_cmd.annotators_app, name="annotators")
app.command("release", epilog=release_cmd.EPILOG)(release_cmd.release)
app.add_typer(releases_cmd.releases_app, name="releases")
app.command("export", epilog=export_cmd.EPILOG)(export_cmd.export)
app.add_typer(surrogate_cmd.surrogate_app, name="surrogate")
app.command("probe", epilog=probe_cmd.EPILOG)(probe_cmd.probe)
app.command("evaluate", epilog=evaluate_cmd.EPILOG)(evaluate_cmd.evaluate)
app.command("compare", epilog=compare_cmd.EPILOG)(compare_cmd.compare)
app.command("utility", epilog=utility_cmd.EPILOG)(utility_cmd.utility)
app.command("reidentify", epilog=reidentify_cmd.EPILOG)(reidentify_cmd.reidentify)
app.command("report", epilog=report_cmd.EPILOG)(report_cmd.report)
app.add_typer(train_cmd.train_app, name="train")
app.command("detect", epilog=detect_cmd.EPILOG)(detect_cmd.detect)
app.add_typer(entities_cmd.entities_app, name="entities")
app.add_typer(benchmark_cmd.benchmark_app, name="benchmark")
app.add_typer(names_cmd.names_app, name="names")
app.add_typer(stories_cmd.stories_app, name="stories")
app.command("doctor", epilog=doctor_cmd.EPILOG)(doctor_cmd.doctor)


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line *argv* (that of the process when None); gives the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    open_closed_streams()
    tolerate_any_text()
    forget_json()
    with noted_interrupts():
        try:
            code = _invoke([word for word in given if word != DEBUG])
            sys.stdout.flush()
        except BrokenPipeError:
            return _unread()
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last boundary: whatever comes becomes a line and an exit code
            if DEBUG in given:
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


def _invoke(arguments: list[str]) -> int:
    code = _commands(arguments[0] if arguments else "")(arguments, prog_name="piiloom", standalone_mode=False)
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


@cache
def _commands(name: str) -> Callable[..., object]:
    """The command *name* with its options; all of them (50 ms) where that is none. Made once a process for whoever runs several."""
    alone = copy(app)
    alone.registered_commands = [one for one in app.registered_commands if one.name == name]
    alone.registered_groups = [one for one in app.registered_groups if one.name == name]
    return get_command(alone if alone.registered_commands or alone.registered_groups else app)
