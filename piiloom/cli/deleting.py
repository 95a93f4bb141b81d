"""The work behind ``piiloom runs delete`` and ``piiloom releases delete``: say what goes, ask, delete."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import typer

from piiloom.cli.costing import COMPOSER
from piiloom.cli.paging import counted
from piiloom.cli.run_summary import dollars, store_option
from piiloom.cli.terminal import say, say_aside, say_json
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.deleting import RunContents, contents_of_run, delete_release, delete_run, refuse_tied
from piiloom.corpus.store.releases import count_members, withheld_of
from piiloom.corpus.store.runs import RunRow, get_run
from piiloom.foundation.errors import UsageError


def delete_run_and_report(path: Path, run_id: str, *, with_journal: bool, confirmed: bool, as_json: bool) -> bool:
    """Delete run *run_id*; False when that was not confirmed."""
    with Store.open(path, create=False) as store:
        run = get_run(store, run_id)
        refuse_tied(store, run.id)
        contents = contents_of_run(store, run.id)
        # The composer's replies are not kept, but for the refused ones: nothing of worth to a later run.
        with_calls = with_journal or run.provider == COMPOSER
        say_aside(_going(run, contents, with_calls=with_calls))
        if not _may(f"run {run.id}", confirmed=confirmed):
            return False
        delete_run(store, run.id, with_journal=with_calls)
    if as_json:
        say_json({"store": str(path), "run": run.id, "with_journal": with_calls, "deleted": asdict(contents)})
    else:
        say(f"deleted run {run.id}: {counted(contents.records, 'record')} with its plan, results and rejects")
        say(f"  next      piiloom journal vacuum{store_option(path)}   (until then the file holds the texts in its free space)")
    return True


def delete_release_and_report(path: Path, name: str, *, confirmed: bool, as_json: bool) -> bool:
    """Delete the release *name*; False when that was not confirmed."""
    with Store.open(path, create=False) as store:
        splits, withheld = count_members(store, name), len(withheld_of(store, name))
        sizes = ", ".join(f"{split} {count:,}" for split, count in splits.items()) or "no records"
        say_aside(f"release {name} ({sizes}; withheld {withheld:,}) will be deleted; its records and what was exported stay")
        if not _may(f"release {name}", confirmed=confirmed):
            return False
        delete_release(store, name)
    if as_json:
        say_json({"store": str(path), "release": name, "splits": splits, "withheld": withheld})
    else:
        say(f"deleted release {name}")
    return True


def _may(what: str, *, confirmed: bool) -> bool:
    if confirmed:
        return True
    if not sys.stdin.isatty():
        raise UsageError("the deletion must be confirmed, and there is no terminal to ask", where=what, remedy="Add --yes")
    if typer.confirm("Delete it?", err=True):
        return True
    say_aside("nothing was deleted")
    return False


def _going(run: RunRow, contents: RunContents, *, with_calls: bool) -> str:
    results = f"{counted(contents.plan_items, 'plan item')}, {counted(contents.stage_results, 'stage result')}"
    line = f"run {run.id} ({run.status}) will be deleted: {counted(contents.records, 'record')} with {counted(contents.spans, 'span')}, "
    line += f"{results}, {counted(contents.rejects, 'reject')}"
    if run.provider == COMPOSER or not contents.calls:
        return line
    replies = f"{counted(contents.replies, 'reply', 'replies')} of {counted(contents.calls, 'call')} ({dollars(contents.cost_usd)})"
    if not with_calls:
        return f"{line}; the journal keeps {replies}, for later runs and for the sums (--with-journal deletes them, too)"
    lent = f", but for {counted(contents.lent, 'reply', 'replies')} that other runs use" if contents.lent else ""
    return f"{line}; and from the journal {replies}{lent}: their cost is then in no sum, and a run that asks the same pays again"
