"""What surrogates of names give away: documents that they link, and originals that they repeat ("hiding in plain sight").

Whoever reads a corpus with surrogates cannot tell them from originals. But if the same person always gets the same surrogate, the documents
of that person can be put together; and a surrogate that is a real name of the corpus is either a value that was not replaced, or points to
somebody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogateLinks:
    """The figures; pairs are pairs of documents that share a surrogate.

    ``true_pairs``: pairs in which it stands for the same original in both. ``consistent``: originals with the same surrogate in several
    documents. ``unchanged``: surrogates that are an original of their own document; ``of_others``: that are one of other documents only.
    ``shared_by_originals``: surrogates that stand for several originals, which link wrongly. The last five are about surrogates whose
    original is known.
    """

    documents: int
    surrogates: int
    originals: int
    shared: int
    linked_documents: int
    pairs: int
    true_pairs: int
    consistent: int
    unchanged: int
    of_others: int
    shared_by_originals: int

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return {
            "documents": self.documents,
            "surrogates": self.surrogates,
            "originals": self.originals,
            "surrogates_in_several_documents": self.shared,
            "linked_documents": self.linked_documents,
            "linked_pairs": self.pairs,
            "truly_linked_pairs": self.true_pairs,
            "originals_with_one_surrogate_in_several_documents": self.consistent,
            "surrogates_that_are_an_original_of_their_document": self.unchanged,
            "surrogates_that_are_an_original_of_another_document": self.of_others,
            "surrogates_of_several_originals": self.shared_by_originals,
        }


class SurrogateNames:
    """Takes down, by key, which surrogate stands for which original in which document (0: not known)."""

    def __init__(self) -> None:
        self._rows: set[tuple[int, int, int]] = set()

    def add(self, document: int, original: int, surrogate: int) -> None:
        """Take down one name."""
        self._rows.add((surrogate, original, document))

    def links(self) -> SurrogateLinks | None:
        """Return the figures; None if there are no surrogates of names."""
        if not self._rows:
            return None
        documents_of: dict[int, set[int]] = {}
        together: dict[tuple[int, int], set[int]] = {}
        written: dict[int, set[int]] = {}
        originals_of: dict[int, set[int]] = {}
        for surrogate, original, document in self._rows:
            documents_of.setdefault(surrogate, set()).add(document)
            if original:
                together.setdefault((surrogate, original), set()).add(document)
                written.setdefault(original, set()).add(document)
                originals_of.setdefault(surrogate, set()).add(original)
        unchanged = {new for new in originals_of if not written.get(new, set()).isdisjoint(documents_of[new])}
        shared = {new: documents for new, documents in documents_of.items() if len(documents) > 1}
        return SurrogateLinks(
            documents=len({document for _, _, document in self._rows}),
            surrogates=len(documents_of),
            originals=len(written),
            shared=len(shared),
            linked_documents=len(set().union(*shared.values())),
            pairs=sum(comb(len(documents), 2) for documents in shared.values()),
            true_pairs=sum(comb(len(documents), 2) for documents in together.values()),
            consistent=len({original for (_, original), documents in together.items() if len(documents) > 1}),
            unchanged=len(unchanged),
            of_others=sum(new in written and new not in unchanged for new in originals_of),
            shared_by_originals=sum(len(originals) > 1 for originals in originals_of.values()),
        )
