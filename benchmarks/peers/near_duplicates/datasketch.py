"""datasketch: MinHash LSH of 64 permutations in 16 bands of 4, the parameters of our quality judge."""

from __future__ import annotations

import re
import time
from typing import Any

TITLE = "datasketch"
PACKAGE = "datasketch"
REQUIREMENTS = ("datasketch==2.0.0",)
PERMUTATIONS = 64


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Index ``originals`` and look up ``copies`` (texts by id): the ids of the copies whose original was found.

    ``word`` is the pattern of a word, and ``shingle`` the number of words that are taken together.
    """
    from datasketch import MinHash, MinHashLSH

    word, size = re.compile(spec["word"]), spec["shingle"]

    def shingles(text: str) -> set[str]:
        found = [one.casefold() for one in word.findall(text)]
        return {" ".join(found[i : i + size]) for i in range(max(1, len(found) - size + 1))}

    def sketch(text: str) -> MinHash:
        made = MinHash(num_perm=PERMUTATIONS, seed=1)
        made.update_batch([shingle.encode() for shingle in shingles(text)])
        return made

    started = time.process_time()
    index = MinHashLSH(num_perm=PERMUTATIONS, params=(16, 4))
    for key, text in spec["originals"].items():
        index.insert(key, sketch(text))
    found = [key for key, text in spec["copies"].items() if key.removeprefix("copy ") in index.query(sketch(text))]
    return {"found": found, "cpu_s": time.process_time() - started}
