"""An author for the recipe ``case`` whose judge knows what the ledger said, and agrees with it or contradicts it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.fakes.llm_author import Author
from tests.fakes.llm_wire import Request


class CaseAuthor(Author):
    """*judge*: "agrees", "moves" (only the first value that decides nothing gets a high grade), "all" or "none" (get one).

    Its closer look confirms what it said; with *takes_back*, what the ledger says.

    What other recipes ask for it answers as ``Author`` does.
    """

    def __init__(self, seed: int = 0, rates: Mapping[str, float] | None = None, *, judge: str = "agrees", takes_back: bool = False) -> None:
        super().__init__(seed, rates)
        self.judge, self.takes_back = judge, takes_back
        self._deciding: dict[str, frozenset[str]] = {}

    def __call__(self, request: Request) -> Mapping[str, Any]:
        if request.schema_name == "judge_relevance" and (judged := self._judged(request.user)) is not None:
            return judged
        if request.schema_name == "case_closer_look" and (looked := self._looked_closer(request.user)) is not None:
            return looked
        reply = super().__call__(request)
        if request.schema_name == "case_questions":
            facts = dict(re.findall(r"^- (v\d+): (.*?) \(", request.user, re.MULTILINE))
            for asked in reply["questions"]:
                self._deciding[asked["question"]] = frozenset(
                    facts[line["id"]] for line in asked["ledger"] if line["weight"] == "main advice"
                )
        if request.schema_name == "case_question":
            draft = re.search(r"^Question: (.*)$", request.user, re.MULTILINE)
            assert draft is not None
            self._deciding[reply["question"]] = self._deciding[draft[1]]
        return reply

    def _looked_closer(self, prompt: str) -> Mapping[str, Any] | None:
        if (known := self._decided(prompt)) is None:
            return None
        facts, matters = known
        return {
            "facts": [
                {"id": fact["id"], "without": "It lacks that.", "needed": one == self.takes_back}
                for fact, one in zip(facts, matters, strict=True)
            ]
        }

    def _decided(self, prompt: str) -> tuple[list[Mapping[str, str]], list[bool]] | None:
        """The facts of a prompt, and for each whether its question turns on it by the ledger; None for another recipe's question."""
        shown, _ = json.JSONDecoder().raw_decode(prompt)
        if shown["question"] not in self._deciding:
            return None
        deciding = {text.casefold() for text in self._deciding[shown["question"]]}
        return shown["facts"], [fact["value"].casefold() in deciding for fact in shown["facts"]]

    def _judged(self, prompt: str) -> Mapping[str, Any] | None:
        if (known := self._decided(prompt)) is None:
            return None
        facts, matters = known
        if self.judge == "moves":
            first = matters.index(False)
            matters = [place == first for place in range(len(matters))]
        elif self.judge != "agrees":
            matters = [self.judge == "all"] * len(matters)
        scores = zip(facts, matters, strict=True)
        return {"judgements": [{"id": fact["id"], "reason": "So it seems.", "score": 4 if one else 0} for fact, one in scores]}
