"""Speed of the pattern engine: against loops of re and regex, and presidio-analyzer, with the same number of recognizers.

    python -m benchmarks.detection_speed --make-peers                     # once: an environment for presidio
    python -m benchmarks.detection_speed --locale en_US --documents 2000
    python -m benchmarks.detection_speed --trials hostile

Documents are notes and dialogues of ../shared/data, and documents of our benchmark in between (one in four; for English, which has none,
lists of labelled values), so that there is something to find. All run on one core. Loops only match; presidio also looks at context words;
ours folds, matches, validates, scores and chooses.
"hostile": texts made against patterns, at doubling sizes; the time for each must not grow faster than the text. Figures:
benchmarks/README.md.
"""

from __future__ import annotations

import csv
import json
import random
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.peers.contestants import Contestant, contestants_of
from benchmarks.peers.harness import Figures, Report, Trial, arguments, cell, driven, prepared, some_of

if TYPE_CHECKING:
    from piiloom.taxonomy.entities.catalogue_file import Entity

_SHARED = Path("../shared/data")
_MOST_OF_PRESIDIO = 200  # documents; its time for all is computed from them
_SIZES = (10_000, 20_000, 40_000)


def plain_documents() -> list[str]:
    """Real notes and dialogues, joined to about 1,000 characters."""
    with (_SHARED / "mts_dialog" / "MTS_Dataset_TrainingSet.csv").open(encoding="utf-8", newline="") as rows:
        texts = [row["dialogue"] for row in csv.DictReader(rows)]
    found, open_text = [], ""
    for text in texts:
        open_text += text + "\n"
        if len(open_text) >= 1000:
            found.append(open_text[:1400])
            open_text = ""
    return found


def dense_documents(locale: str, count: int) -> list[str]:
    """Documents of the benchmark, which are full of values; for English, lists of labelled values."""
    from piiloom.detection.benchmark.benchmark_options import BenchmarkOptions
    from piiloom.detection.benchmark.making import BenchmarkCounts, make_benchmark
    from piiloom.foundation.seeding import derive_rng
    from piiloom.taxonomy.entities.entity_catalogue import LOCALES, load_catalogue

    if locale not in LOCALES:
        rng = derive_rng("dense", locale)
        entities = [(one, next(iter(one.context), one.id)) for one in load_catalogue(locale).entities.values() if one.generator is not None]
        return ["\n".join(f"{label}: {drawn(one, locale, rng)}" for one, label in rng.sample(entities, 8)) for _ in range(count)]
    options = BenchmarkOptions(locales=(locale,), lengths=("short",), documents=count)
    return [one.record.context for one in make_benchmark(options, BenchmarkCounts())]


def drawn(entity: Entity, locale: str, rng: random.Random) -> str:
    """Draw a value. Persons, after whom some are named, are there for the thirteen locales only; other locales borrow them."""
    from piiloom.pii_values.entity_values.drawing import draw_entity_value
    from piiloom.taxonomy.entities.entity_catalogue import LOCALES

    return draw_entity_value(entity, locale if locale in LOCALES else "nl_NL", rng)


def material(locale: str, count: int) -> list[str]:
    """One benchmark document after three plain ones."""
    plain, dense = cycle(plain_documents()), cycle(dense_documents(locale, min(count, 96)))
    return [next(dense) if number % 4 == 3 else next(plain) for number in range(count)]


def patterns_of(locale: str) -> list[dict[str, Any]]:
    """The catalogue's patterns as expressions for regex and for re."""
    from piiloom.patterns.writing import write_pattern
    from piiloom.taxonomy.entities.catalogue_file import CharacterSet, Node, Repeat, TemplateChoice, TemplateSequence, parse_pattern
    from piiloom.taxonomy.entities.entity_catalogue import load_catalogue

    letters = {"L": r"^\W\d_", "Lu": "A-ZÀ-ÖØ-Þ", "Ll": "a-zß-öø-ÿ", "Han": "\u4e00-\u9fff"}

    def for_re(node: Node) -> str:
        match node:
            case CharacterSet():
                if node.properties == {"L"} and not node.negated and not node.characters:
                    return r"[^\W\d_]"
                members = "".join(c if c.isalnum() or not c.isascii() else f"\\x{ord(c):02x}" for c in sorted(node.characters))
                ranges = "".join("A-Za-zÀ-ÖØ-öø-ÿ" if name == "L" else letters[name] for name in sorted(node.properties))
                return f"[{'^' if node.negated else ''}{members}{ranges}]"
            case Repeat():
                return f"(?:{for_re(node.node)}){{{node.fewest},{'' if node.most is None else node.most}}}"
            case TemplateChoice():
                return "(?:" + "|".join(map(for_re, node.options)) + ")"
            case TemplateSequence():
                return "".join(map(for_re, node.nodes))

    found = []
    for entity in load_catalogue(locale).entities.values():
        for pattern in entity.patterns:
            words = "|".join(pattern.preceded_by)
            label = f"(?:{words})[ ]{{0,2}}[:=#]?[ ]{{0,2}}" if words else ""
            flag = "(?i)" if pattern.ignore_case or words else ""
            core = for_re(parse_pattern(pattern.pattern))
            edges = (r"(?<!\w)", r"(?!\w)") if pattern.boundary == "word" else ("", "")
            found.append(
                {
                    "entity": entity.id,
                    "regex": write_pattern(pattern).exact,
                    "re": f"{flag}{edges[0]}{label}{core}{edges[1]}",
                    "score": pattern.score,
                    "context": list(entity.context),
                }
            )
    return found


def found_by(contestant: Contestant, peers: Path, locale: str, count: int) -> Figures:
    """Have a contestant look through *count* documents in a process of its own, on one core."""
    with tempfile.TemporaryDirectory() as folder:
        documents, patterns = Path(folder) / "documents.json", Path(folder) / "patterns.json"
        texts = material(locale, count)
        documents.write_text(json.dumps(texts), encoding="utf-8")
        patterns.write_text(json.dumps(patterns_of(locale)), encoding="utf-8")
        spec = {"documents": str(documents), "patterns": str(patterns), "locale": locale, "most": _MOST_OF_PRESIDIO}
        figures = driven(contestant, peers, spec)
    size = sum(len(text.encode()) for text in texts) / 1e6
    return figures | {"documents_per_s": count / figures["seconds"], "mb_per_s": size / figures["seconds"]}


def hostile_texts(locale: str) -> Iterator[tuple[str, str]]:
    """(what it is, piece): texts made of a repeated piece that patterns begin to match and then do not, or match everywhere."""
    from piiloom.foundation.seeding import derive_rng
    from piiloom.taxonomy.entities.entity_catalogue import load_catalogue

    fixed = (
        "1",
        "1 ",
        "1-",
        "12.",
        "a",
        "a.",
        "a@",
        "a@a.",
        "http://",
        "://",
        "A",
        "A1",
        "A1-",
        "(",
        "+1",
        "身",
        "身1",
        "password ",
        "pin: ",
        "0x",
        "1,",
    )
    for piece in fixed:
        yield f"run of {piece!r}", piece
    rng = derive_rng("hostile", locale)
    for entity in load_catalogue(locale).entities.values():
        if entity.patterns and entity.generator is not None:
            value = drawn(entity, locale, rng)
            yield f"{entity.id}, cut", value[:-1]
            yield f"{entity.id}, glued", value
            yield f"{entity.id}, in a list", f"{value} "


def hostile(locale: str) -> Figures:
    """Time each hostile text at doubling sizes; tells the slowest, and those whose time grew more than 2.6 times at a doubling."""
    from piiloom.patterns.engine import engine_for

    engine = engine_for(locale)
    slowest, over, tried = (0.0, ""), [], 0
    for name, piece in hostile_texts(locale):
        times = []
        for size in _SIZES:
            text = "".join(islice(cycle(piece), size))
            begun = time.perf_counter()
            engine.find(text)
            times.append(time.perf_counter() - begun)
        tried += 1
        slowest = max(slowest, (times[-1] / _SIZES[-1] * 1e6, name))
        # Of 5 ms or less the clock tells nothing.
        if times[-1] > 0.05 and times[-1] / times[-3] > 2.6**2:
            over.append(f"{name}: {', '.join(f'{one * 1e3:.0f}' for one in times)} ms")
    return {"tried": tried, "s_per_mb": slowest[0], "slowest": slowest[1], "over_linear": over}


COLUMNS = (
    ("documents/s", cell("documents_per_s", ",.0f")),
    ("MB/s", cell("mb_per_s", ".2f")),
    ("found", cell("found", ",")),
    ("made in s", cell("made", ".2f")),
    ("peak MB", cell("peak_mb", ".0f")),
)


def main() -> None:
    from benchmarks.peers.holding import hold
    from piiloom.taxonomy.entities.entity_catalogue import catalogue_locales

    parser = arguments(__doc__)
    parser.add_argument("--locale", default="pl_PL", choices=catalogue_locales(), metavar="CODE", help="whose patterns (%(default)s)")
    parser.add_argument("--documents", type=int, default=2000, help="how many documents (%(default)s)")
    parser.add_argument("--trials", metavar="NAMES", help="separated by commas: peers, hostile")
    given = parser.parse_args()
    names = some_of(("peers", "hostile"), given.trials, ("peers",))
    contestants, versions = prepared("detection_speed", contestants_of("detection"), given) if "peers" in names else ([], {})
    count = len(patterns_of(given.locale))
    trials = {
        "peers": lambda: Trial(
            name="peers",
            title=f"{given.documents} documents, {count} patterns of {given.locale}, one core",
            plays={one.name: lambda _, one=one: found_by(one, given.peers, given.locale, given.documents) for one in contestants},
            columns=COLUMNS,
            repeats=given.repeats,
            ratios=("documents_per_s", "peak_mb"),
        ),
        "hostile": lambda: Trial(
            name="hostile",
            title=f"hostile texts of {_SIZES[0]:,} to {_SIZES[-1]:,} characters, {count} patterns of {given.locale}",
            plays={"ours": lambda _: hostile(given.locale)},
        ),
    }
    settings = {"locale": given.locale, "documents": given.documents, "patterns": count, "repeats": given.repeats}
    report = Report(benchmark="detection_speed", versions=versions, settings=settings)
    hold(report, [trials[name]() for name in names], titles={one.name: one.title for one in contestants}, out=given.out)


if __name__ == "__main__":
    main()
