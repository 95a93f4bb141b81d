"""Near-duplicate search: our exact index against MinHash LSH (datasketch), on the same texts in one run.

    python -m benchmarks.near_duplicates --make-peers                      # once: an environment for the peer
    python -m benchmarks.near_duplicates --texts 4000

Texts are composer contexts and, for every fourth, a copy with some words replaced. "Pairs" are those with a Jaccard similarity
of five-word shingles of at least .5, counted by brute force over the copies; each method is asked for the twin of each copy.
"""

from __future__ import annotations

from benchmarks.peers.contestants import Contestant, contestants_of
from benchmarks.peers.harness import Figures, Report, Trial, arguments, cell, driven, prepared
from benchmarks.peers.holding import hold
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.records import iter_records
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import WORD, words
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import start_run
from piiloom.generation.settings.setting_checks import make_config

SHINGLE, THRESHOLD = 5, 0.5


def main() -> None:
    """Make the texts, ask all, print what each found and took."""
    parser = arguments(__doc__, repeats=1)
    parser.add_argument("--texts", type=int, default=4000, help="number of composer contexts (%(default)s)")
    given = parser.parse_args()
    contestants, versions = prepared("near_duplicates", contestants_of("near_duplicates"), given)
    originals = contexts(given.texts)
    copies = {f"copy {key}": reworded(text, key) for key, text in list(originals.items())[::4]}
    twins = {key for key, text in copies.items() if jaccard(text, originals[key.removeprefix("copy ")]) >= THRESHOLD}
    spec = {"originals": originals, "copies": copies, "threshold": THRESHOLD, "word": WORD.pattern, "shingle": SHINGLE}

    def play(contestant: Contestant) -> Figures:
        figures = driven(contestant, given.peers, spec)
        found = len(twins & set(figures["found"]))
        return {"found": found, "cpu_ms_per_text": 1000 * figures["cpu_s"] / (len(originals) + len(copies))}

    trial = Trial(
        name="twins",
        title=f"{len(copies)} reworded copies among {len(originals)} texts, {len(twins)} of them similar",
        plays={one.name: lambda _, one=one: play(one) for one in contestants},
        columns=(("found", cell("found", "d")), ("CPU ms a text", cell("cpu_ms_per_text", ranged=True))),
        repeats=given.repeats,
        ratios=("cpu_ms_per_text",),
    )
    report = Report(benchmark="near_duplicates", versions=versions, settings={"texts": given.texts, "twins": len(twins)})
    hold(report, [trial], titles={one.name: one.title for one in contestants}, out=given.out)


def contexts(number: int) -> dict[str, str]:
    """Compose *number* contexts, by id."""
    with Store.open(MEMORY) as store:
        run_to_end(start_run(store, make_config({"samples": number, "seed": 7})))
        return {record.id: record.context for record in iter_records(store)}


def reworded(text: str, key: str) -> str:
    """Replace between none and a tenth of the words of *text*."""
    rng = derive_rng("reworded", key)
    share = rng.random() / 10
    return " ".join("otherwise" if rng.random() < share else word for word in text.split())


def shingles(text: str) -> set[str]:
    """List the five-word shingles of *text*."""
    found = [word.casefold() for word in words(text)]
    return {" ".join(found[i : i + SHINGLE]) for i in range(max(1, len(found) - SHINGLE + 1))}


def jaccard(first: str, second: str) -> float:
    """Give the share of shingles that two texts have in common."""
    a, b = shingles(first), shingles(second)
    return len(a & b) / len(a | b)


if __name__ == "__main__":
    main()
