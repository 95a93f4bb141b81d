"""Surrogates: ours against presidio-anonymizer with Faker operators, and one core against two; every row in a process of its own.

    pip install presidio-anonymizer && python benchmarks/surrogates.py
    python benchmarks/surrogates.py --only cores --documents 500000

Both fill the same documents (about 1,000 characters, ten placeholders, spans given), pinned to one core. Ours casts people in
balanced groups, keeps one surrogate a person, moves dates, makes e-mail and phone agree and gives an offset map; presidio with
Faker gives each span a value on its own.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

# As a script this file would stand in the way of the package of its name.
sys.path = [str(Path(__file__).parents[1]), *(place for place in sys.path if Path(place or ".").resolve() != Path(__file__).parent)]

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
    from piiloom.surrogates.documents import Document
    from piiloom.surrogates.engine import Engine
    from piiloom.surrogates.mentions import Mention
    from piiloom.surrogates.offset_map import OffsetMap
    from piiloom.surrogates.settings import Settings

    documents = [
        Document(number, str(number), text, "bench", None, tuple(Mention(start, end, kind, role) for start, end, kind, role, _ in spans))
        for number, (text, spans) in enumerate(material(count))
    ]
    engine = Engine(Settings(seed=7), NamePools(open_names(None)))
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


def presidio(count: int) -> dict[str, Any]:
    """The peer: one AnonymizerEngine, a Faker operator a type."""
    from faker import Faker
    from presidio_anonymizer import AnonymizerEngine
    from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

    fake = Faker("en_US")
    fake.seed_instance(7)
    makers = {
        "PERSON": fake.name,
        "DATE_TIME": lambda: fake.date_object().isoformat(),
        "LOCATION": fake.city,
        "EMAIL_ADDRESS": fake.email,
        "PHONE_NUMBER": fake.phone_number,
        "ORG": fake.company,
    }
    operators = {name: OperatorConfig("custom", {"lambda": lambda _, make=make: make()}) for name, make in makers.items()}
    engine = AnonymizerEngine()
    documents = [
        (text, [RecognizerResult(entity_type=theirs, start=start, end=end, score=1.0) for start, end, _, _, theirs in spans])
        for text, spans in material(count)
    ]
    for text, results in documents[:50]:
        engine.anonymize(text=text, analyzer_results=results, operators=operators)
    started = time.perf_counter()
    for text, results in documents:
        example = engine.anonymize(text=text, analyzer_results=results, operators=operators).text
    return {"seconds": time.perf_counter() - started, "example": example[:160]}


def cores(count: int, workers: int) -> dict[str, Any]:
    """``piiloom surrogate run`` on a JSONL file of tagged documents, all output written."""
    from piiloom.surrogates.engine_factory import EngineFactory
    from piiloom.surrogates.inputs.settings import InputSettings
    from piiloom.surrogates.placeholders.mapping import Mapping
    from piiloom.surrogates.running import run_surrogates
    from piiloom.surrogates.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "input.jsonl"
        with source.open("w", encoding="utf-8") as out:
            block = [json.dumps({"text": text}) + "\n" for text, _ in material(min(count, 5000))]
            for at in range(0, count, len(block)):
                out.writelines(block[: count - at])
        factory = EngineFactory(settings=Settings(seed=7), mapping=Mapping(), scan=False)
        started = time.perf_counter()
        run_surrogates(InputSettings(path=source), Path(folder) / "out", factory, seed=7, workers=workers)
        return {"seconds": time.perf_counter() - started, "megabytes": source.stat().st_size / 1e6}


def _child(name: str, arguments: tuple[int, ...], pin: bool, answers: Any) -> None:
    if pin:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    result = {"ours": ours, "presidio": presidio, "cores": cores}[name](*arguments)
    answers.put({**result, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024})


def measured(name: str, *arguments: int, pin: bool = True) -> dict[str, Any]:
    """Run one row in a fresh process, so that peaks of memory do not add up."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=_child, args=(name, arguments, pin, answers))
    process.start()
    result: dict[str, Any] = answers.get()
    process.join()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=5000, help="how many documents (500000 for --only cores)")
    parser.add_argument("--rounds", type=int, default=3, help="each row is run so often, in turns; the best counts")
    parser.add_argument("--only", choices=("peers", "cores"), help="one of the two comparisons")
    told = parser.parse_args()
    if told.only != "cores":
        rows: dict[str, list[dict[str, Any]]] = {"ours": [], "presidio": []}
        for _ in range(told.rounds):
            for name, found in rows.items():
                found.append(measured(name, told.documents))
        rates = {}
        for name, found in rows.items():
            best = min(found, key=lambda one: one["seconds"])
            rates[name] = told.documents / best["seconds"]
            print(f"{name:9} {rates[name]:>9,.0f} documents/s   peak {best['peak_mb']:.0f} MB   {best['example']!r}")
        print(f"ratio     {rates['ours'] / rates['presidio']:.1f}")
    if told.only != "peers":
        count = told.documents if told.only == "cores" else 20_000
        seconds = {workers: measured("cores", count, workers, pin=False) for workers in (1, 2)}
        for workers, found in seconds.items():
            rate, size = count / found["seconds"], found["megabytes"]
            print(f"{workers} worker{'s' * (workers > 1)}  {rate:,.0f} documents/s ({size:.0f} MB of input in {found['seconds']:.1f} s)")
        print(f"speed-up  {seconds[1]['seconds'] / seconds[2]['seconds']:.2f}")


if __name__ == "__main__":
    main()
