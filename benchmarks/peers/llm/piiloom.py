"""piiloom: its own session over a DuckDB store, with journal, limiter, budget, validator and rejects, for one stage of one call.

The stage is the benchmark's; everything else is what ``piiloom generate`` runs: ``piiloom.generation.running.session``,
``piiloom.generation.stage``, ``piiloom.execution.ordering``. Started again, it goes on with the run of its store, as
``--resume last`` does.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from piiloom.corpus.store.call_events import iter_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import StageResultRow, list_runs, load_rejects, load_stage_results
from piiloom.execution.committing import Batch
from piiloom.execution.ordering import OrderedRun, StopSignal
from piiloom.generation.running.opening import resume_run, start_run
from piiloom.generation.running.session import Session
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.setting_checks import make_config
from piiloom.generation.stage import Fault, ItemRejected, PromptRequest, ask
from piiloom.prompts.library import PromptLibrary, PromptTemplate

TITLE = "piiloom"
PACKAGE = "piiloom"
REQUIREMENTS = ()
STAGE = "bench"
AGAIN = "{% if fault %}\n\nYour previous reply could not be used: {{ fault }}{% endif %}"


class Reply(BaseModel):
    """What a reply must be."""

    model_config = ConfigDict(extra="forbid")
    case: str = Field(pattern="^case-[0-9]{6}$")
    title: str = Field(min_length=1, max_length=120)
    sentences: list[str] = Field(min_length=2, max_length=4)
    mood: Literal["calm", "worried", "angry", "hopeful"]
    confidence: float = Field(ge=0, le=1)


class Work:
    """One session: asks for all items that have neither a result nor a reject."""

    def __init__(self, session: Session, spec: dict[str, Any], done: set[int]) -> None:
        self._session, self._spec, self._done = session, spec, done
        source = f"{{% block system %}}{spec['system']}{{% endblock %}}{{% block user %}}{spec['template']}{AGAIN}{{% endblock %}}"
        session.ctx.prompts = PromptLibrary({STAGE: PromptTemplate(f"{STAGE}.v1", source, where=STAGE)})

    async def run(self) -> None:
        """Work until every item is decided."""
        await OrderedRun(
            source=((index, item) for index, item in read_items(self._spec) if index not in self._done),
            work=self._worked,
            consume=self._session.committer.put,
            still_wanted=lambda: self._spec["calls"],
            concurrency=self._session.items_at_once,
            stop=StopSignal(),
        ).run()

    async def _worked(self, numbered: tuple[int, dict[str, Any]]) -> Batch:
        index, item = numbered

        def accept(data: Any) -> Reply:
            try:
                reply = Reply.model_validate(data)
            except ValidationError as error:
                raise Fault("not_as_asked", f"{error.error_count()} fields are not as asked") from None
            if reply.case != item["case"]:
                raise Fault("other_case", "it is about another case")
            return reply

        question = PromptRequest(stage=STAGE, template=STAGE, variables=item, schema=self._spec["schema"], item_id=str(index))
        try:
            reply, _ = await ask(question, self._session.ctx, accept)
        except ItemRejected as rejection:
            return Batch(rejects=[rejection.row(plan_index=index)])
        return Batch(results=[StageResultRow(plan_index=index, stage=STAGE, payload=reply.model_dump_json())])


def read_items(spec: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and read the items as they are wanted."""
    with Path(spec["items"]).open(encoding="utf-8") as lines:
        for index, line in enumerate(lines):
            yield index, json.loads(line)


async def run_to_end(store: Store, spec: dict[str, Any]) -> str:
    """Start the run, or go on with it; its id."""
    config = _config(spec)
    known = list_runs(store)
    opened = start_run(store, config) if not known else resume_run(store, known[-1], base_url=spec["base_url"])
    run = opened.run
    done = set(load_stage_results(store, run.id, STAGE)) | {
        row.plan_index for row in load_rejects(store, run.id) if row.plan_index is not None
    }
    async with opened.session() as session:
        work = Work(session, spec, done)
        session.start_committing()
        await work.run()
    return run.id


def _config(spec: dict[str, Any]) -> RunConfig:
    return make_config(
        {
            "provider": "compatible",
            "model": spec["model"],
            "base_url": spec["base_url"],
            "samples": spec["calls"],
            "concurrency": spec["concurrency"],
            "timeout_s": spec.get("timeout_s", 60.0),
            # Prices and a budget that is never reached, so that every call is reserved and settled.
            "price": "input=0.5,output=1.5",
            "budget_usd": 1000.0,
        }
    )


def write_rows(store: Store, run_id: str, spec: dict[str, Any]) -> None:
    """Write the results out, a thousand at a time."""
    with Path(spec["rows"]).open("w", encoding="utf-8") as rows:
        for first in range(0, spec["calls"], 1000):
            found = store.rows(
                "SELECT payload FROM stage_results WHERE run_id = ? AND plan_index BETWEEN ? AND ?", [run_id, first, first + 999]
            )
            rows.writelines(payload + "\n" for (payload,) in found)


def write_journal(store: Store, run_id: str, path: Path) -> None:
    """Write what the journal says was sent and paid for, by case, and who was rejected."""
    replies, maybe, sent = Counter[str](), Counter[str](), 0
    for event in iter_events(store, run_id):
        case = f"case-{int(event.item_id):06d}"
        if event.kind == "reply":
            replies[case] += 1
        elif event.kind == "failed" and event.entry["maybe_billed"]:
            maybe[case] += 1
        sent += event.kind == "sent"
    rejected = {f"case-{row.plan_index:06d}": row.reason_code for row in load_rejects(store, run_id)}
    path.write_text(json.dumps({"replies": replies, "maybe_billed": maybe, "sent": sent, "rejected": rejected}))


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Write the replies to ``rows``, and the journal beside them if the server is faulty."""
    with Store.open(Path(spec["state"], "piiloom.duckdb")) as store:
        run_id = asyncio.run(run_to_end(store, spec))
        write_rows(store, run_id, spec)
        if "timeout_s" in spec:
            write_journal(store, run_id, Path(spec["rows"]).with_name("journal.json"))
    return {}
