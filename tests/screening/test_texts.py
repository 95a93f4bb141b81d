"""Refusals and language: wording and languages that must go, and posts that must stay."""

import pytest

from piiloom.corpus.record import Record, Span
from piiloom.foundation.errors import UsageError
from piiloom.screening.gates import Expectations, RefusalsGate
from piiloom.screening.language import SELDOM, LanguageGate, _classifier, _is_plainly_english
from tests.longer import case_by_case

EXPECTED = Expectations(pair=("health", "occupation"))


def code_of(gate, context, question="Can I go?", expected=EXPECTED, spans=()):
    verdict = gate.check(Record(id="r", context=context, question=question, spans=spans), expected)
    assert verdict is None or verdict.code in gate.codes
    return verdict and verdict.code


@case_by_case(
    ("text", "code"),
    [
        ("As an AI language model, I have no body.", "refusal.assistant"),
        ("Well, as a language model I cannot say.", "refusal.assistant"),
        ("I'm an AI assistant.", "refusal.assistant"),
        ("I’m sorry, but I can’t help with that.", "refusal.declined"),
        ("I cannot assist with this request.", "refusal.declined"),
        ("I cannot help.", "refusal.declined"),
        ("I'm unable to generate realistic personal data.", "refusal.declined"),
        ("I cannot fulfill this request as it stands.", "refusal.declined"),
        ("Here is the paraphrased text: I froze.", "refusal.meta"),
        ("Sure! Here's a rewritten version of it. I froze.", "refusal.meta"),
        ("Rewritten text: I froze.", "refusal.meta"),
        ("Context: I froze.", "refusal.meta"),
        ("I have [[v1|asthma]] now.", "refusal.mark"),
        ("I have [[v1|asthma now.", "refusal.mark"),
        ("I have asthma]] now.", "refusal.mark"),
        ("I have {health} now.", "refusal.leftover"),
        ("I have {a:health} now.", "refusal.leftover"),
        ("I have {{ value }} now.", "refusal.leftover"),
        ("I <froze|stalled> there.", "refusal.leftover"),
        ("My name is [NAME] here.", "refusal.leftover"),
        ("My name is <PERSON_1> here.", "refusal.leftover"),
        ("I live in [insert city] now.", "refusal.leftover"),
        ("I live in XXXXX now.", "refusal.leftover"),
        ("```I froze.```", "refusal.leftover"),
        ("I have v3|asthma now.", "refusal.leftover"),
    ],
)
def test_talk_about_the_task_is_refused(text, code):
    assert code_of(RefusalsGate(), text) == code
    assert code_of(RefusalsGate(), "Fine.", text) == code


@case_by_case(
    "text",
    [
        "I cannot help my sister with her rent any more.",
        "I'm sorry, but I can't afford it.",
        "Here is the thing: I froze.",
        "Here's my situation: I froze.",
        "Sure, I could go back up.",
        "I can't write to my landlord without shaking.",
        "I am unable to provide for my kids.",
        "My boss (who I <3) says [sic] I am fine; I wear size XXL.",
        "I model AI systems for a living.",
        "I can't complete the form.",
        "She said the final version is due.",
    ],
)
def test_what_people_write_passes(text):
    assert code_of(RefusalsGate(), text) is None


ENGLISH = [
    "i lost my keys at the gym lol, any tips pls or am i doomed forever",
    "My cousin Giovanni Bellini met Françoise Lefèvre and Jürgen Müller-Lüdenscheidt in Saint-Germain-en-Laye near Île-de-France.",
    "Priya Venkataraman and Oluwaseun Adébáyò live in Thiruvananthapuram, Kerala.",
    "Rent due Friday, $14,300 debt, 612 credit score, no savings, tired.",
    "Señora Martínez González bought jalapeños, tortillas and salsa verde with her cousin José for the wedding in Guadalajara.",
    "4111 1111 1111 1111 4111 1111 1111 1111 4111 1111 1111",
]
FOREIGN = {
    "de": "Als Krankenschwester mit Asthma habe ich letzten Dienstag auf halber Höhe angehalten, und jetzt will mein Chef einen Nachweis.",
    "fr": "Je me suis arrêtée à mi-hauteur mardi dernier et maintenant mon chef exige une preuve que je peux remonter.",
    "es": "Me quedé paralizada a mitad de camino el martes pasado y ahora mi jefe exige pruebas de que puedo subir.",
    "nl": "Ik ben mijn sleutels gisteren in de trein kwijtgeraakt en weet niet wat ik nu moet doen.",
    "pt": "Fiquei parada a meio caminho na terça-feira passada e agora o meu chefe exige uma prova de que posso subir.",
    "ja": "昨日、電車の中で鍵をなくしてしまい、とても困っています。どうすればいいですか。教えてください。",
}


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_never_refused(text):
    assert code_of(LanguageGate(), text) is None


@case_by_case(("language", "text"), FOREIGN.items())
def test_another_language_is_refused_and_allowed_where_asked_for(language, text):
    assert code_of(LanguageGate(), text) == "language.other"
    assert not _is_plainly_english(text)


@pytest.mark.long
def test_the_language_asked_for_passes_and_english_then_does_not():
    german = Expectations(pair=("health", "occupation"), language="de")
    assert code_of(LanguageGate(), FOREIGN["de"], expected=german) is None
    assert (
        code_of(LanguageGate(), "My boss says that I am not safe to climb and that I have to prove it.", expected=german)
        == "language.other"
    )


def test_short_texts_and_texts_of_spans_pass():
    assert code_of(LanguageGate(), "Ich habe meine Schlüssel verloren.") is None
    title = "Gesellschaft der Freunde der Stadtbücherei und des Heimatvereins"
    span = Span(id="s", start=5, end=5 + len(title), entity_type="organization")
    assert code_of(LanguageGate(), f"I am {title} chair here", spans=(span,)) is None


@pytest.mark.long
def test_a_language_nobody_knows_is_a_usage_error():
    with pytest.raises(UsageError, match="tlh"):
        code_of(LanguageGate(), ENGLISH[0], expected=Expectations(pair=("a", "b"), language="tlh"))


@pytest.mark.parametrize("text", ["Det luktar nybakat i hela trappan just nu.", "Min mormor bor i en by vid havet.", "Her er en lang tur."])
def test_a_word_that_only_looks_english_does_not_make_a_short_text_english(text):
    assert not _is_plainly_english(text)


@pytest.mark.parametrize("text", ["I sleep badly & fall asleep in lectures.", "Parking on X is scarce on an ordinary evening."])
def test_short_english_is_told_by_one_word_of_its_own(text):
    assert _is_plainly_english(text)


def test_plain_english_needs_no_classifier():
    _classifier.cache_clear()
    assert code_of(LanguageGate(), "I froze on the mast with my boss watching, and they want proof that I can climb.") is None
    assert _classifier.cache_info().currsize == 0


@pytest.mark.long
def test_a_classifier_that_is_seldom_needed_is_let_go():
    gate = LanguageGate()
    english = "I was told that this is the way to go with my car, and it helped."
    odd = "Flights vans absurd lmk bro ciao vuelos caros siempre Ausblick teuer immer wieder"
    _classifier.cache_clear()
    code_of(gate, odd)
    assert _classifier.cache_info().currsize == 1
    for _ in range(2 * SELDOM):
        code_of(gate, english)
    code_of(gate, odd)
    assert _classifier.cache_info().currsize == 0
