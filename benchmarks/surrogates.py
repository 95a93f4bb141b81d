"""Surrogates: ours against presidio-anonymizer with Faker operators, the command against a script, and one core against two.

    python -m benchmarks.surrogates --make-peers                          # once: an environment for the peer
    python -m benchmarks.surrogates --trials peers
    python -m benchmarks.surrogates --only command                        # the same as --trials command
    python -m benchmarks.surrogates --trials cores --documents 500000

Every row is in a process of its own. "command" is the whole command line against a script (``commands/surrogate_run.py``). "peers" are
the engines: both fill the same documents (about 1,000 characters, ten placeholders, spans given), pinned to one core. Ours casts people in
balanced groups, keeps one surrogate a person, moves dates, makes e-mail and phone agree and gives an offset map; presidio with
Faker gives each span a value on its own.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.commands.surrogate_run import auto_and_one, whole_commands
from benchmarks.peers.contestants import OURS, Contestant, contestants_of
from benchmarks.peers.harness import Figures, Report, Trial, arguments, cell, driven, prepared, some_of

_WORDS = (
    "the meeting about the report was moved because nobody had read it and the room upstairs is being painted so we will talk "
    "about the plan over lunch instead and then decide what to do with the rest of the week"
).split()
# Ten placeholders, of which five are people: what a document of notes looks like.
_KINDS = (
    ("person", "student", "PERSON"),
    ("date", "", "DATE_TIME"),
    ("person", "tutor", "PERSON"),
    ("city", "", "LOCATION"),
    ("email", "", "EMAIL_ADDRESS"),
    ("person", "student", "PERSON"),
    ("phone", "", "PHONE_NUMBER"),
    ("organisation", "", "ORG"),
    ("person", "tutor", "PERSON"),
    ("date", "", "DATE_TIME"),
)


def material(count: int) -> list[tuple[str, list[tuple[int, int, str, str, str]]]]:
    """Texts with (start, end, kind, role, presidio's type) of their placeholders."""
    found = []
    for number in range(count):
        pieces: list[str] = []
        spans = []
        at = 0
        for place, (kind, role, theirs) in enumerate(_KINDS):
            words = " ".join(_WORDS[(number * 7 + place * 5 + i) % len(_WORDS)] for i in range(15)) + ". Then "
            tag = f"<{(role or kind).upper()}>"
            pieces += [words, tag, " said that he " if (number + place) % 6 == 0 else " went on "]
            at += len(words)
            spans.append((at, at + len(tag), kind, role, theirs))
            at += len(tag) + len(pieces[-1])
        found.append(("".join(pieces), spans))
    return found


def ours(count: int) -> dict[str, Any]:
    """Both passes of the engine over documents in memory."""
    from piiloom.pii_values.names.index import open_names
    from piiloom.pii_values.names.pools import NamePools
    from piiloom.surrogates.documents import Document, Mention, OffsetMap
    from piiloom.surrogates.engine import Engine
    from piiloom.surrogates.settings import EngineSettings

    documents = [
        Document(number, str(number), text, "bench", None, tuple(Mention(start, end, kind, role) for start, end, kind, role, _ in spans))
        for number, (text, spans) in enumerate(material(count))
    ]
    engine = Engine(EngineSettings(seed=7), NamePools(open_names(None)))
    started = time.perf_counter()
    deque(engine.replace_all(documents[:2000]), maxlen=0)  # names and words of all groups are read
    warm = time.perf_counter() - started
    started = time.perf_counter()
    replaced = 0
    for done in engine.replace_all(documents):
        replaced += len(done.placed)
    seconds = time.perf_counter() - started
    assert replaced == count * len(_KINDS)
    for document, done in zip(documents, engine.replace_all(documents), strict=True):
        offsets = OffsetMap((one.start, one.end, one.new_start, one.new_end) for one in done.placed)
        assert offsets.agrees(document.text, done.text)
    return {"seconds": seconds, "example": done.text[:160], "warm": warm, "characters": sum(len(d.text) for d in documents) / count}


def cores(count: int, workers: int) -> dict[str, Any]:
    """``piiloom surrogate run`` on a JSONL file of tagged documents, all output written."""
    from piiloom.surrogates.engine import EngineFactory
    from piiloom.surrogates.inputs.parts import SourceSettings
    from piiloom.surrogates.placeholders.mapping import Mapping
    from piiloom.surrogates.running import run_surrogates
    from piiloom.surrogates.settings import EngineSettings

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "input.jsonl"
        with source.open("w", encoding="utf-8") as out:
            block = [json.dumps({"text": text}) + "\n" for text, _ in material(min(count, 5000))]
            for at in range(0, count, len(block)):
                out.writelines(block[: count - at])
        factory = EngineFactory(settings=EngineSettings(seed=7), mapping=Mapping(), scan=False)
        started = time.perf_counter()
        run_surrogates(SourceSettings(path=source), Path(folder) / "out", factory, workers=workers)
        return {"seconds": time.perf_counter() - started, "megabytes": source.stat().st_size / 1e6}


def _child(count: int, workers: int, answers: Any) -> None:
    answers.put({**cores(count, workers), "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024})


def on_cores(count: int, workers: int) -> Figures:
    """Run ``cores`` in a fresh process, so that peaks of memory do not add up."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=_child, args=(count, workers, answers))
    process.start()
    figures: Figures = answers.get()
    process.join()
    return figures | {"documents_per_s": count / figures["seconds"]}


def filled(contestant: Contestant, peers: Path, count: int) -> Figures:
    """Have a contestant fill *count* documents in a process of its own, on one core."""
    with tempfile.TemporaryDirectory() as folder:
        documents = Path(folder) / "documents.jsonl"
        documents.write_text("".join(json.dumps(one) + "\n" for one in material(count)), encoding="utf-8")
        figures = driven(contestant, peers, {"documents": str(documents), "count": count})
    return figures | {"documents_per_s": count / figures["seconds"]}


def best(turns: Sequence[Figures]) -> Figures:
    """The quickest turn."""
    return min(turns, key=lambda turn: turn["seconds"])


TRIALS = ("peers", "command", "cores", "auto")
COLUMNS = (("documents/s", cell("documents_per_s", ",.0f")), ("seconds", cell("seconds")), ("peak MB", cell("peak_mb", ".0f")))


def main() -> None:
    from benchmarks.peers.holding import hold  # its tables would count as memory of ``ours``, which is run out of this file

    parser = arguments(__doc__)
    parser.add_argument(
        "--documents", type=int, help="how many documents (5000 for the peers, 6000 for command, 20000 for cores, 300 for auto)"
    )
    parser.add_argument("--trials", metavar="NAMES", help=f"separated by commas: {', '.join(TRIALS)}")
    given = parser.parse_args()
    if given.only in TRIALS:
        given.trials, given.only = given.only, None
    names = some_of(TRIALS, given.trials, TRIALS)
    known = contestants_of("surrogates")
    alone = {"cores", "auto"}.issuperset(names)
    contestants, versions = prepared("surrogates", [one for one in known if one.name == OURS] if alone else known, given)
    trials = {
        "command": lambda: whole_commands(contestants, given.peers, given.documents or 6000, given.repeats),
        "peers": lambda: against_peers(contestants, given.peers, given.documents or 5000, given.repeats),
        "auto": lambda: auto_and_one(given.documents or 300, given.repeats),
        "cores": lambda: one_and_two_cores(given.documents or 20_000),
    }
    report = Report(benchmark="surrogates", versions=versions, settings={"documents": given.documents, "repeats": given.repeats})
    hold(report, [trials[name]() for name in names], titles={one.name: one.title for one in known}, out=given.out)


def against_peers(contestants: Sequence[Contestant], peers: Path, count: int, repeats: int) -> Trial:
    """Each contestant on one core."""
    return Trial(
        name="peers",
        title=f"{count} documents of about 1,050 characters with ten placeholders, one core; best of {repeats}",
        plays={one.name: lambda _, one=one: filled(one, peers, count) for one in contestants},
        columns=COLUMNS,
        repeats=repeats,
        merge=best,
        ratios=("documents_per_s", "peak_mb"),
    )


def one_and_two_cores(count: int) -> Trial:
    """The whole command with one worker and with two."""
    return Trial(
        name="cores",
        title=f"piiloom surrogate run on {count} documents, all output written",
        plays={"1 worker": lambda _: on_cores(count, 1), "2 workers": lambda _: on_cores(count, 2)},
        columns=COLUMNS,
        subject="2 workers",
        ratios=("documents_per_s",),
    )


if __name__ == "__main__":
    main()
