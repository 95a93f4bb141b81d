"""Locales of other languages than English: their records are exact, in their language, and the same every time."""

from __future__ import annotations

import random

import phonenumbers
import pytest
from stdnum.br import cpf
from stdnum.se import personnummer

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import whole_word
from piiloom.generation.settings.setting_checks import make_config
from piiloom.pii_values.drawing import draw_value
from piiloom.pii_values.persona import draw_persona
from piiloom.screening.gates import Expectations
from piiloom.screening.language import LanguageGate
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.locales import get_locale, load_locales
from tests.generation.composer_settings import exported, start
from tests.longer import mostly_long

OTHERS = [code for code, found in load_locales().items() if found.composer and found.language != "en"]
SAMPLES = 40


@pytest.fixture(scope="module", params=mostly_long(OTHERS, quick=OTHERS[:1]))
def run(request, tmp_path_factory):
    """A locale and a store with a finished run of forty of its records."""
    path = tmp_path_factory.mktemp(request.param) / "one.duckdb"
    progress = start(path, samples=SAMPLES, locale=request.param)
    assert (progress.status, progress.accepted) == ("finished", SAMPLES)
    return request.param, path


def records_of(path):
    with Store.open(path) as store:
        return list(iter_records(store, run_id=get_run(store, "last").id))


def test_every_value_is_marked_wherever_it_stands(run):
    code, path = run
    for record in records_of(path):
        assert record.locale == code
        places = {(span.start, span.end) for span in record.spans}
        for surface in {span.text_in(record.context) for span in record.spans}:
            assert {match.span() for match in whole_word(surface).finditer(record.context)} <= places


def test_the_texts_are_in_the_language(run):
    code, path = run
    wanted = Expectations(pair=("age", "health"), values=(), language=get_locale(code).language)
    assert [record.id for record in records_of(path) if LanguageGate().check(record, wanted) is not None] == []


def test_the_same_settings_give_the_same_bytes(run, tmp_path):
    code, path = run
    again = tmp_path / "again.duckdb"
    start(again, samples=SAMPLES, locale=code, concurrency=3)
    assert exported(again) == exported(path)


@pytest.mark.parametrize("code", OTHERS)
def test_all_pairs_are_those_of_the_bank(code):
    known = load_bank(get_locale(code).language, extra=None, taxonomy=shipped_taxonomy()).pairs
    assert set(make_config({"locale": code, "recipe": "staged"}).chosen_pairs()) == set(known)
    every = set(make_config({"recipe": "staged"}).chosen_pairs())
    for pair in sorted(every - set(known))[:1]:
        with pytest.raises(UsageError, match="has no scenario of") as caught:
            make_config({"locale": code, "pairs": "+".join(pair), "recipe": "staged"}).chosen_pairs()
        assert "+".join(min(known)) in str(caught.value.remedy)


def test_numbers_of_brazil_are_valid():
    for seed in range(100):
        rng = random.Random(seed)
        persona = draw_persona(rng, "pt_BR")
        assert cpf.is_valid(draw_value(persona, "code", "national_id", rng, taxonomy=shipped_taxonomy()).text)
        assert phonenumbers.is_valid_number(phonenumbers.parse(persona.phone, "BR"))


def test_numbers_of_sweden_are_valid_and_fit_their_holder():
    for seed in range(100):
        rng = random.Random(seed)
        persona = draw_persona(rng, "sv_SE")
        number = draw_value(persona, "code", "national_id", rng, taxonomy=shipped_taxonomy()).text
        assert personnummer.is_valid(number)
        assert number.startswith(f"{persona.birth_date:%y%m%d}")
        if persona.gender != "nonbinary":
            assert personnummer.get_gender(number) == persona.gender[0].upper()
        assert number.replace("-", "")[6:8] == "98"  # kept for test persons
        assert phonenumbers.is_valid_number(phonenumbers.parse(persona.phone, "SE"))


def test_swedish_names_keep_their_letters():
    names = "".join(draw_persona(random.Random(seed), "sv_SE").full_name for seed in range(100))
    assert {"å", "ä", "ö"} <= set(names.casefold())
