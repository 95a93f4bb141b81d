"""What a question may not give away."""

from piiloom.corpus.record import Record, Span
from piiloom.screening.gates import Expectations, ExpectedValue, QuestionLeaksGate, content_stems, stem
from tests.longer import case_by_case

VALUES = (
    ExpectedValue(id="v1", text="air traffic controller", entity_type="occupation", relevance="high"),
    ExpectedValue(id="v2", text="peanut allergy", entity_type="health", relevance="high"),
    ExpectedValue(id="v3", text="Open Pantry Trust", entity_type="organization", relevance="low"),
    ExpectedValue(id="v4", text="34", entity_type="age", relevance="low"),
    ExpectedValue(id="v5", text="ex-husband", entity_type="relationship", relevance="low"),
)
EXPECTED = Expectations(pair=("health", "occupation"), values=VALUES)
GATE = QuestionLeaksGate({"health": {"health", "medical"}, "occupation": {"occupation", "job", "line of work"}, "age": {"age"}})


def code_of(question, expected=EXPECTED, spans=()):
    record = Record(id="r", context="My old work mate says hello", question=question, spans=spans)
    verdict = GATE.check(record, expected)
    return verdict and verdict.code


@case_by_case(
    "question",
    [
        "What would I need before going back up?",
        "Which paperwork would they expect at my age?",  # age is no type of the pair
        "Should I open up to my boss about it?",  # one word of a low value
        "Is $34,000 too much?",
        "Can I be healthy again?",
        "How are we to control it?",
        "Is jobless the word?",
    ],
)
def test_questions_that_keep_the_secret_pass(question):
    assert code_of(question) is None


@case_by_case(
    ("question", "code"),
    [
        (None, "question.missing"),
        ("  ", "question.missing"),
        ("Would the Open Pantry Trust help?", "question.value"),
        ("Would the OPEN PANTRY\u00a0TRUST help?", "question.value"),
        ("Is 34 too old?", "question.value"),
        ("May my ex‑husband know?", "question.value"),
        ("What about my Peanut Allergy?", "question.value"),
        ("What about my allergies?", "question.content_word"),
        ("Do peanuts matter?", "question.content_word"),
        ("Is that air clean?", "question.content_word"),
        ("What do controllers do?", "question.content_word"),
        ("What about my health?", "question.type_word"),
        ("Is this a Medical matter?", "question.type_word"),
        ("Is my job safe?", "question.type_word"),
        ("In my line of work, who pays?", "question.type_word"),
    ],
)
def test_questions_that_leak_are_named(question, code):
    assert code_of(question) == code


def test_the_spelling_in_the_context_counts_too():
    mate = Span(id="s1", start=7, end=16, entity_type="occupation", relevance="high", value_id="v1")
    expected = Expectations(pair=("health", "occupation"))
    assert code_of("Is it work?", expected, (mate,)) == "question.content_word"
    assert code_of("Is it a work mate?", expected, (mate,)) == "question.value"
    assert code_of("Is it?", expected, (mate,)) is None


def test_a_type_without_words_is_still_named_by_its_name():
    expected = Expectations(pair=("belief", "sexual orientation"))
    assert code_of("Does my sexual orientation matter?", expected) == "question.type_word"


@case_by_case(
    "family",
    [
        "nurse nurses nursing nursed nurse's nurses'",
        "allergy allergies",
        "plan plans planned planning",
        "box boxes",
        "class classes",
        "church churches",
        "carry carries carried carrying",
        "café cafés Cafe",
        "diabetes diabetes'",
        "train trains training trained",
        "hope hopes hoped hoping",
    ],
)
def test_number_and_tense_share_a_stem(family):
    assert len({stem(word) for word in family.split()}) == 1


@case_by_case(
    "pair", ["speed spe", "bring br", "bus bu", "glass glas", "need ne", "teacher teach", "thing th", "virus viru", "gas g", "2012 201"]
)
def test_other_words_keep_apart(pair):
    one, other = pair.split()
    assert stem(one) != stem(other)


def test_function_words_have_no_stem():
    assert content_stems("what would I do with my hips") == {"hip"}
