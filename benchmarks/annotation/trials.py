"""What the tools of ``annotation_peers`` are put through; each trial serves a store of its own and gives what it found."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.annotation.desk import Desk, Tool, closing, seen_after, seen_of
from benchmarks.annotation.material import EDITS, Change, Mark, Story
from benchmarks.peers.harness import Figures

_RELOADS_AFTER_S = (0.0, 1.0, 2.0, 4.0, 7.0)


def accepting(tool: Tool, browser: Any, folder: Path, plain: list[Story], _: list[Story]) -> Figures:
    """Right records accepted, until the next one is on the screen."""
    took: list[float] = []
    with tool.serving(folder, plain), closing(tool.desk(browser, "ana")) as desk:
        desk.open()
        here = desk.arrive(plain)
        while here is not None:
            begun = time.perf_counter()
            desk.finish()
            here = desk.arrive(plain, after=here)
            if here is not None:
                took.append(time.perf_counter() - begun)
        each = desk.effort.keys / len(plain)
    right = sum(versions == [(story.context, sorted(story.marks))] for story in plain for versions in [tool.stored().get(story.name)])
    return {
        "keys a record": each,
        "seconds until the next record": _spread(took),
        "stored exactly as they were": f"{right} of {len(plain)}",
    }


def editing(tool: Tool, browser: Any, folder: Path, plain: list[Story], hard: list[Story]) -> Figures:
    """Five edits a record: relevance, type, end, a missing span, a surplus span; then what is stored."""
    records = [*plain, *hard]
    seconds: dict[str, list[float]] = defaultdict(list)
    efforts: dict[str, set[str]] = defaultdict(set)
    notes: list[str] = []
    with tool.serving(folder, records), closing(tool.desk(browser, "ana")) as desk:
        desk.open()
        here = desk.arrive(records)
        while here is not None:
            notes += _imported_otherwise(desk, here)
            for change in here.changes:
                took, effort = desk.timed(here, change)
                seconds[change.kind].append(took)
                efforts[change.kind].add(str(effort))
            desk.finish()
            here = desk.arrive(records, after=here)
    figures: Figures = {}
    for kind in EDITS:
        figures |= {f"{kind}: hands": " or ".join(sorted(efforts[kind])), f"{kind}: seconds": _spread(seconds[kind])}
    for name, group in (("plain", plain), *((one.hard, [one]) for one in hard)):
        wanted = {one.name: [(one.context, one.wanted)] for one in group}
        exact = [key for key, value in wanted.items() if tool.stored().get(key) == value]
        figures[f"{name}: stored with exact code-point offsets, types, relevance"] = f"{len(exact)} of {len(group)}"
        for key in wanted.keys() - set(exact):
            notes.append(f"{key}: wanted {wanted[key][0][1]}, stored {[marks for _, marks in tool.stored().get(key, [])]}")
    return figures | {"otherwise than wanted": "; ".join(notes) or "nothing"}


def _imported_otherwise(desk: Desk, story: Story) -> list[str]:
    shown = sorted(desk.marks(), key=str)
    wanted = sorted((seen_of(story, mark) for mark in story.marks), key=str)
    return [f"{story.name}: imported {wanted}, shown {shown}"] if shown != wanted else []


def saving(tool: Tool, browser: Any, folder: Path, plain: list[Story], _: list[Story]) -> Figures:
    """Seconds until the server has an edit that nobody submitted; reloads some seconds after an edit."""
    took: list[float] = []
    kept: list[str] = []
    with tool.serving(folder, plain), closing(tool.desk(browser, "ana")) as desk:
        desk.open()
        here = desk.arrive(plain)
        for turn in range(2 * len(_RELOADS_AFTER_S)):
            assert here is not None
            flip = here.changes[0]
            if turn < len(_RELOADS_AFTER_S):
                begun = time.perf_counter()
                with desk.saving():
                    desk.timed(here, flip)
                took.append(time.perf_counter() - begun)
            else:
                wait = _RELOADS_AFTER_S[turn - len(_RELOADS_AFTER_S)]
                kept.append(f"{wait:g} s: {'kept' if _survives(desk, here, flip, plain, wait) else 'lost'}")
            desk.finish()
            here = desk.arrive(plain, after=here)
    return {"seconds until the server has an edit": _spread(took), "after a reload that many s after an edit": ", ".join(kept)}


def _survives(desk: Desk, story: Story, change: Change, records: Sequence[Story], wait: float) -> bool:
    """Whether an edit is still there after a reload *wait* seconds after it was seen on the page."""
    wanted = seen_after(desk.marks(), story, change)
    desk.timed(story, change)
    desk.page.wait_for_timeout(1000 * wait)
    desk.page.reload()
    assert desk.arrive(records) == story, "another record came after the reload"
    return _comes_to(desk, wanted, 3)


def _comes_to(desk: Desk, wanted: list[tuple[str, str, str | None]], patience: float) -> bool:
    try:
        desk.until(lambda: sorted(desk.marks(), key=str) == wanted, "the edit is there", patience)
    except TimeoutError:
        return False
    return True


def killing(tool: Tool, browser: Any, folder: Path, plain: list[Story], _: list[Story]) -> Figures:
    """SIGKILL of the server 0 or 7 s after an edit that nobody submitted; after the restart the page is reloaded."""
    said: list[str] = []
    with tool.serving(folder, plain), closing(tool.desk(browser, "ana")) as desk:
        desk.open()
        here = desk.arrive(plain)
        for wait in (0.0, 7.0):
            assert here is not None
            wanted = seen_after(desk.marks(), here, here.changes[0])
            desk.timed(here, here.changes[0])
            desk.page.wait_for_timeout(1000 * wait)
            tool.kill()
            # The tab gets its chance to send again what it had not got through.
            desk.page.wait_for_timeout(10_000)
            desk.page.goto("about:blank")
            desk.open()
            assert desk.arrive(plain) == here, "another record came after the restart"
            said.append(f"{wait:g} s: {'kept' if _comes_to(desk, wanted, 5) else 'lost'}")
            desk.finish()
            here = desk.arrive(plain, after=here)
    return {"after SIGKILL that many s after an edit": ", ".join(said)}


def together(tool: Tool, browser: Any, folder: Path, plain: list[Story], _: list[Story]) -> Figures:
    """Two people, two records for one person each: what the second one gets while the first one holds one of them."""
    pair = plain[:2]
    with tool.serving(folder, pair), closing(tool.desk(browser, "ana")) as ana, closing(tool.desk(browser, "bob")) as bob:
        ana.open()
        hers = ana.arrive(pair)
        assert hers is not None
        ana.timed(hers, hers.changes[0])
        bob.open()
        got = bob.arrive(pair)
        figures = {"while another is free": "the same record" if got == hers else "the other record"}
        if got != hers:
            bob.finish()
            got = bob.arrive(pair, after=got)
            figures["when none is left"] = "the record that the first one works on" if got == hers else "nothing, and the page says so"
        if got == hers:
            bob.timed(hers, hers.changes[1])
            bob.finish()
            bob.page.wait_for_timeout(3000)
        ana.finish()
        ana.page.wait_for_timeout(3000)
    versions = tool.stored().get(hers.name, [])
    return figures | {"finished versions of that record": ", ".join(_told(hers, marks) for _, marks in versions)}


def _told(story: Story, marks: list[Mark]) -> str:
    done = [change.kind for change in story.changes if change.after in marks and change.before not in marks]
    return f"one with {' and '.join(done) or 'no edit'}"


def text(tool: Tool, browser: Any, folder: Path, plain: list[Story], _: list[Story]) -> Figures:
    """A word put before the text while the spans stay on theirs."""
    story = plain[0]
    with tool.serving(folder, [story]), closing(tool.desk(browser, "ana")) as desk:
        desk.open()
        desk.arrive([story])
        figures = {"where the text is edited": desk.write_into_text(story, "Well. ")}
    for context, marks in tool.stored().get(story.name, []):
        kept = [context[mark.start : mark.end] for mark in marks] == [story.text(mark) for mark in story.marks]
        figures |= {"stored text is the edited one": context == f"Well. {story.context}", "all spans on their words": kept}
    return figures


def _spread(seconds: Sequence[float]) -> str:
    return f"{median(seconds):.2f} ({min(seconds):.2f}–{max(seconds):.2f}, n={len(seconds)})"


TRIALS = {one.__name__: one for one in (accepting, editing, saving, killing, together, text)}
