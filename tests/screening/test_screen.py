"""The gates together: order, memory, the taxonomy's words."""

from piiloom.corpus.record import Record, Span
from piiloom.screening.gates import Expectations, ExpectedValue, GateVerdict
from piiloom.screening.screen import RecordScreen, default_screen
from piiloom.taxonomy.entity_types import shipped_taxonomy

CONTEXT = "As a night nurse with asthma, I froze halfway up a swaying mast last Tuesday, and now my boss wants proof that I can climb."
EXPECTED = Expectations(
    pair=("health", "occupation"),
    values=(
        ExpectedValue(id="v1", text="night nurse", entity_type="occupation", relevance="high"),
        ExpectedValue(id="v2", text="asthma", entity_type="health", relevance="high"),
    ),
    min_words=10,
    max_words=150,
)


def record(record_id="r1", context=CONTEXT, question="What would I need before going back up?"):
    spans = tuple(
        Span(
            id=value.id,
            start=context.index(value.text),
            end=context.index(value.text) + len(value.text),
            entity_type=value.entity_type,
            relevance="high",
            value_id=value.id,
        )
        for value in EXPECTED.values
    )
    return Record(id=record_id, context=context, question=question, spans=spans)


class Refuses:
    name = "refuses"
    codes = {"refuses.always": "always"}  # noqa: RUF012  a fake

    def __init__(self, code, log):
        self.code, self.log = code, log

    def check(self, record, expected):
        self.log.append(self.code)
        return self.code and GateVerdict(code=self.code, detail="")


def test_the_first_gate_that_refuses_has_the_word():
    log = []
    screen = RecordScreen([Refuses(None, log), Refuses("refuses.always", log), Refuses("refuses.later", log)])
    assert screen.check(record(), EXPECTED).code == "refuses.always"
    assert log == [None, "refuses.always"]


def test_a_sound_record_passes_and_its_twin_does_not():
    screen = default_screen(taxonomy=shipped_taxonomy())
    assert screen.check(record(), EXPECTED) is None
    assert screen.check(record("r2"), EXPECTED).code == "duplicate.question"
    assert screen.check(record("r2", question="Who could tell me?"), EXPECTED).code == "duplicate.near"


def test_a_refused_record_is_not_remembered():
    screen = default_screen(taxonomy=shipped_taxonomy())
    assert screen.check(record(question="Is my health at risk?"), EXPECTED).code == "question.type_word"
    assert screen.check(record("r2"), EXPECTED) is None


def test_a_primed_screen_knows_what_was_accepted():
    screen = default_screen(taxonomy=shipped_taxonomy())
    screen.prime(record())
    assert screen.check(record("r2"), EXPECTED).code == "duplicate.question"


def test_codes_are_unique_and_explained():
    screen = default_screen(taxonomy=shipped_taxonomy())
    assert len(screen.codes) == sum(len(gate.codes) for gate in screen.gates)
    assert [gate.name for gate in screen.gates] == [
        "exactness",
        "presence",
        "length",
        "question",
        "refusal",
        "unlisted",
        "language",
        "duplicate",
    ]


def test_every_type_of_the_taxonomy_is_named_by_some_word():
    gate = default_screen(taxonomy=shipped_taxonomy()).gates[3]
    for entity_type in ("health", "sexual orientation", "age"):
        expected = Expectations(pair=(entity_type, "occupation"))
        assert gate.check(Record(id="r", context="x", question=f"Is {entity_type} it?"), expected).code == "question.type_word"
