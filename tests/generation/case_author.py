"""An author for the recipe ``case`` whose judge knows what the ledger said, and agrees with it or contradicts it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.fakes.llm_author import Author
from tests.fakes.llm_wire import Request


class CaseAuthor(Author):
    """*judge*: "agrees", "contradicts" all, "unsure" of all, or "comes round": contradicts first questions and agrees with second ones.

    What other recipes ask for it answers as ``Author`` does.
    """

    def __init__(self, seed: int = 0, rates: Mapping[str, float] | None = None, *, judge: str = "agrees") -> None:
        super().__init__(seed, rates)
        self.judge = judge
        self._deciding: dict[str, frozenset[str]] = {}
        self._second: set[str] = set()

    def __call__(self, request: Request) -> Mapping[str, Any]:
        if request.schema_name == "judge_relevance" and (judged := self._judged(request.user)) is not None:
            return judged
        reply = super().__call__(request)
        if request.schema_name == "case_questions":
            facts = dict(re.findall(r"^- (v\d+): (.*?) \(", request.user, re.MULTILINE))
            for asked in reply["questions"]:
                self._deciding[asked["question"]] = frozenset(
                    facts[line["id"]] for line in asked["ledger"] if line["weight"] == "main advice"
                )
                if "to be replaced" in request.user:
                    self._second.add(asked["question"])
        if request.schema_name == "case_question":
            draft = re.search(r"^Question: (.*)$", request.user, re.MULTILINE)
            assert draft is not None
            self._deciding[reply["question"]] = self._deciding[draft[1]]
            if draft[1] in self._second:
                self._second.add(reply["question"])
        return reply

    def _judged(self, prompt: str) -> Mapping[str, Any] | None:
        shown, _ = json.JSONDecoder().raw_decode(prompt)
        if shown["question"] not in self._deciding:
            return None  # of another recipe
        deciding = {text.casefold() for text in self._deciding[shown["question"]]}
        against = self.judge == "contradicts" or (self.judge == "comes round" and shown["question"] not in self._second)
        entries = []
        for fact in shown["facts"]:
            matters = (fact["value"].casefold() in deciding) != against
            score = 2 if self.judge == "unsure" else 4 if matters else 0
            entries.append({"id": fact["id"], "reason": "So it seems.", "score": score})
        return {"judgements": entries}
