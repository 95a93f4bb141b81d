"""Near-duplicate search: our exact index against MinHash LSH (datasketch), on the same texts in one run.

    pip install datasketch && python benchmarks/near_duplicates.py [--texts 4000]

Texts are composer contexts and, for every fourth, a copy with some words replaced. "Pairs" are those with a Jaccard similarity
of five-word shingles of at least .5, counted by brute force over the copies; each method is asked for the twin of each copy.
"""

from __future__ import annotations

import argparse
import json
import time

from piiloom.corpus.near_duplicates import NearDuplicateIndex
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.records import iter_records
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import words
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import start_run
from piiloom.generation.settings.setting_checks import make_config

SHINGLE, THRESHOLD, PERMUTATIONS = 5, 0.5, 64


def main() -> None:
    """Make the texts, ask both, print what each found and took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=4000, help="number of composer contexts")
    originals = contexts(parser.parse_args().texts)
    copies = {f"copy {key}": reworded(text, key) for key, text in list(originals.items())[::4]}
    twins = {key for key, text in copies.items() if jaccard(text, originals[key.removeprefix("copy ")]) >= THRESHOLD}
    for name, search in (("piiloom", ours), ("datasketch", datasketch_lsh)):
        started = time.process_time()
        found = search(originals, copies)
        used = time.process_time() - started
        per_text = 1000 * used / (len(originals) + len(copies))
        print(json.dumps({"method": name, "pairs": len(twins), "found": len(found & twins), "cpu_ms_per_text": round(per_text, 3)}))


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


def ours(originals: dict[str, str], copies: dict[str, str]) -> set[str]:
    """Ask the index that screening and splits use."""
    index = NearDuplicateIndex(THRESHOLD)
    for key, text in originals.items():
        index.add(key, text)
    return {key for key, text in copies.items() if key.removeprefix("copy ") in index.similar(text)}


def datasketch_lsh(originals: dict[str, str], copies: dict[str, str]) -> set[str]:
    """Ask MinHash LSH with 16 bands of 4, the parameters of our quality judge."""
    from datasketch import MinHash, MinHashLSH

    def sketch(text: str) -> MinHash:
        made = MinHash(num_perm=PERMUTATIONS, seed=1)
        made.update_batch([shingle.encode() for shingle in shingles(text)])
        return made

    index = MinHashLSH(num_perm=PERMUTATIONS, params=(16, 4))
    for key, text in originals.items():
        index.insert(key, sketch(text))
    return {key for key, text in copies.items() if key.removeprefix("copy ") in index.query(sketch(text))}


if __name__ == "__main__":
    main()
