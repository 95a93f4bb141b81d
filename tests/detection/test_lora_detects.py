"""From a record to an adapter to its spans: what is trained is what the detector "capid" asks, down to the last token."""

from __future__ import annotations

from pathlib import Path

import pytest

from piiloom.taxonomy.entity_types import shipped_taxonomy

pytest.importorskip("torch")
pytest.importorskip("piiloom.detection.capid_detector")

from piiloom.corpus.formats.instruction_tuning import extracting, extracting_values, marking, verifying
from piiloom.corpus.formats.verifier import chosen_candidates
from piiloom.corpus.record import Record, Span
from piiloom.detection.detector import ModelDetector, ScoredSpan
from piiloom.detection.detector_settings import DetectorSettings, ModelSettings
from piiloom.detection.families import MARKERS
from piiloom.detection.registry import make_detector
from piiloom.detection.training.lora_training import train_lora
from piiloom.detection.training.training_data import TrainingData, chat_rows, example_of, read_input
from piiloom.detection.training.training_options import VERIFIER_1, LoraPlace, LoraSettings, TrainingInput
from piiloom.detection.verifying_detector import VerifyingDetector
from piiloom.providers.local.loading import PromptLayout
from piiloom.providers.protocol import Completion, Message, PromptCall
from tests.detection.training_rows import row, write_jsonl
from tests.providers.tiny_llama import make_tokenizer, write_model

pytestmark = pytest.mark.train


class Noting:
    """A provider that notes what it is asked, and finds nothing."""

    name, model, endpoint, paid = "noting", "none", "none", False

    def __init__(self) -> None:
        self.asked: list[list[Message]] = []

    async def complete(self, call: PromptCall) -> Completion:
        self.asked.append(list(call.render()))
        return Completion(text="[]", data="[]", model=self.model)

    async def aclose(self) -> None:
        return None


@pytest.mark.parametrize(
    "context", ["I live in Leeds.", " \n\nI live in Leeds\n\n ", "In Leeds {{ so }} {% raw %} <|im_end|> &amp;\r\n\tx"]
)
@pytest.mark.parametrize("question", [None, "May I?", "One\ntwo", '"Quoted"', " blanks "])
def test_a_detector_asks_with_the_tokens_of_the_training(context: str, question: str | None, tmp_path: Path) -> None:
    at = context.index("Leeds")
    span = Span(id="s", start=at, end=at + 5, entity_type="location", relevance="high" if question else None)
    (messages,) = chat_rows([Record(id="r", context=context, question=question, spans=(span,))], "capid", taxonomy=shipped_taxonomy())
    noting = Noting()
    settings = DetectorSettings(detector="capid", provider="openai", replies=tmp_path / "r.duckdb")
    make_detector(settings, provider=noting).detect(context, "en_US", question)
    layout = PromptLayout(make_tokenizer())
    example = example_of(messages, layout)
    assert layout.prompt(noting.asked[0]) == list(example.tokens[: example.prompt])
    (messages,) = chat_rows([Record(id="r", context=context, question=question, spans=(span,))], "capid-alpaca", shipped_taxonomy())
    make_detector(settings.model_copy(update={"form": "capid"}), provider=noting).detect(context, "en_US", question)
    layout = PromptLayout(make_tokenizer(), alpaca=True)
    example = example_of(messages, layout)
    assert layout.prompt(noting.asked[1]) == list(example.tokens[: example.prompt])


def test_a_record_that_was_learnt_by_heart_is_found(tmp_path: Path) -> None:
    base = write_model(tmp_path / "base", also=[extracting(relevance=True, taxonomy=shipped_taxonomy())] * 3, size=2000)
    data = read_input(TrainingInput(train=(write_jsonl(tmp_path / "t.jsonl", [row(7)]),), validation_size=0))
    settings = LoraSettings(batch_size=1, accumulation=1, epochs=60, learning_rate=1e-2, warmup=0.0)
    train_lora(data, settings, LoraPlace(model=base, out=tmp_path / "adapter"))
    local = ModelSettings(
        provider="local", replies=tmp_path / "replies.duckdb", model=str(base), adapter=tmp_path / "adapter", max_attempts=1
    )
    detector = make_detector(DetectorSettings(detector="capid", **local.given()))
    assert isinstance(detector, ModelDetector)
    (record,) = data.train
    found = detector.detect(record.context, "en_US", record.question)
    assert [(one.start, one.end, one.entity_type, one.relevance) for one in found] == [
        (one.start, one.end, one.entity_type, one.relevance) for one in record.spans
    ]
    assert detector.totals.answered == 1
    again = make_detector(DetectorSettings(detector="capid", **local.given() | {"device": "cpu"}))
    assert again.detect(record.context, "en_US", record.question) == found
    assert isinstance(again, ModelDetector)
    assert again.totals.replayed == 1, "the reply is in the store"


def test_the_form_of_capid_is_learnt_and_asked_in_the_layout_of_alpaca(tmp_path: Path) -> None:
    data, local = by_heart(tmp_path, "capid-alpaca", extracting_values(shipped_taxonomy()))
    (record,) = data.train
    found = make_detector(DetectorSettings(detector="capid", form="capid", **local.given())).detect(
        record.context, "en_US", record.question
    )
    assert [(one.start, one.end, one.entity_type, one.relevance) for one in found] == [
        (one.start, one.end, one.entity_type, one.relevance) for one in record.spans
    ]
    layout = PromptLayout(make_tokenizer(), alpaca=True)
    asked = [Message(role="system", content="Words before.\n\n### Instruction:\nList."), Message(role="user", content="Text: a")]
    assert layout.read(layout.prompt(asked)).strip() == ("Words before.\n\n### Instruction:\nList.\n\n### Input:\nText: a\n\n### Response:")


def local_model(base: Path, folder: Path) -> ModelSettings:
    return ModelSettings(provider="local", replies=folder / "r.duckdb", model=str(base), adapter=folder / "adapter", max_attempts=1)


def by_heart(tmp_path: Path, task: str, instruction: str) -> tuple[TrainingData, ModelSettings]:
    """A model of a few thousand numbers that knows what one record teaches of *task*, and how a detector asks it."""
    base = write_model(tmp_path / "base", also=[instruction] * 3, size=2000)
    data = read_input(TrainingInput(train=(write_jsonl(tmp_path / "t.jsonl", [row(7)]),), validation_size=0))
    epochs = 20 if task == VERIFIER_1 else 60
    settings = LoraSettings(task=task, weight_decay=0.0, batch_size=1, accumulation=1, epochs=epochs, learning_rate=1e-2, warmup=0.0)
    train_lora(data, settings, LoraPlace(model=base, out=tmp_path / "adapter"))
    return data, ModelSettings(
        provider="local", replies=tmp_path / "replies.duckdb", model=str(base), adapter=tmp_path / "adapter", max_attempts=1
    )


def test_markers_that_were_learnt_by_heart_are_found(tmp_path: Path) -> None:
    data, local = by_heart(tmp_path, MARKERS, marking(relevance=True, taxonomy=shipped_taxonomy()))
    detector = make_detector(DetectorSettings(detector="markers", **local.given()))
    (record,) = data.train
    found = detector.detect(record.context, "en_US", record.question)
    assert [(one.start, one.end, one.entity_type) for one in found] == [(one.start, one.end, one.entity_type) for one in record.spans]


def test_a_verifier_that_was_learnt_by_heart_refuses_what_it_learnt_to(tmp_path: Path) -> None:
    data, local = by_heart(tmp_path, VERIFIER_1, verifying(reasoned=False, taxonomy=shipped_taxonomy()))
    (record,) = data.train
    candidates = list(chosen_candidates(record, []))

    class Finder:
        name = "finder"

        def detect(self, text: str, locale: str, question: str | None = None) -> list[ScoredSpan]:
            return [
                ScoredSpan(start=one.start, end=one.end, entity_type=one.entity_type, subtype=None, score=1.0, detector="finder")
                for one in candidates
            ]

    kept = VerifyingDetector(Finder(), local, reasoned=False, taxonomy=shipped_taxonomy()).detect(record.context, "en_US", record.question)
    told = {(one.start, one.end, one.entity_type) for one in kept}
    assert told == {(one.start, one.end, one.entity_type) for one in candidates if one.right}
    assert len(told) < len(candidates)
