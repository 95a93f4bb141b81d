"""Each entry of the catalogue finds what is drawn for it, and refuses what only looks like it."""

from __future__ import annotations

import re

import pytest

from piiloom.detection.catalogue_trial import NEGATIVES, POSITIVES, try_entity
from piiloom.patterns.engine import engine_for
from piiloom.patterns.resolving import disjoint
from piiloom.taxonomy.entities.catalogue_file import UNIVERSAL
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, catalogue_locales, shipped_entities
from tests.longer import mostly_long


def failures(locale: str, *, positives: int, negatives: int, seed: int, every: int = 1) -> list[str]:
    """The entities of *locale* that fail; each *every*-th one is tried, the universal ones in all locales in turn."""
    found = []
    listed = [one for one in shipped_entities([locale]) if one.patterns][::every]
    for number, entity in enumerate(listed):
        engine = engine_for(
            LOCALES[number % len(LOCALES)] if locale == UNIVERSAL else locale,
            unconfirmed=True,
            also=frozenset() if entity.default else frozenset({entity.id}),
        )
        trial = try_entity(engine.catalogue.entities[entity.id], engine, seed=seed, positives=positives, negatives=negatives)
        if trial.found < positives or trial.refused < trial.negatives or trial.negatives < negatives or not trial.validated:
            found.append(f"{entity.where} {entity.id}: {trial.found}/{trial.positives}, {trial.refused}/{trial.negatives}")
    return found


@pytest.mark.long
@pytest.mark.parametrize("locale", [UNIVERSAL, *catalogue_locales()])
def test_every_entity_of(locale: str) -> None:
    assert failures(locale, positives=POSITIVES, negatives=NEGATIVES, seed=1) == []


def test_some_entities_of_poland() -> None:
    assert failures("pl_PL", positives=3, negatives=3, seed=2, every=3) == []


# The age is in brackets; texts without brackets have none: durations, limits and differences in years.
AGES = {
    "sv_SE": (
        "Jag är [34] år och bor i Umeå.",
        "Hon är en [34]-årig kvinna.",
        "Patienten är [34] år gammal.",
        "En [34]-åring ringde.",
        "Han fyllde [50] år i mars.",
        "Jag har jobbat där i 34 år.",
        "Det är 34 år sedan.",
        "Min bror är 5 år äldre.",
        "en 10-årig garanti",
    ),
    "no_NO": (
        "Jeg er [34] år og bor i Bodø.",
        "En [34]-åring ringte.",
        "Pasienten er [34] år gammel.",
        "Hun fylte [50] år i mars.",
        "Jeg har jobbet der i 34 år.",
        "Det er 34 år siden.",
        "Broren min er 5 år eldre.",
    ),
    "fi_FI": (
        "Olen [34]-vuotias opettaja.",
        "[34]-vuotiaan miehen vaimo",
        "Olen [34] vuotta vanha.",
        "Täytin [34] vuotta.",
        "Olen asunut täällä 34 vuotta.",
        "Siitä on 34 vuotta aikaa.",
        "34 vuotta sitten",
    ),
    "nl_NL": (
        "Ik ben [34] jaar oud.",
        "Ik ben [34] jaar en woon in Assen.",
        "een [34]-jarige man",
        "Mijn zoon is [8] jaar.",
        "Ik werk er al 34 jaar.",
        "34 jaar geleden",
        "Wij zijn 10 jaar getrouwd.",
        "Zij is 5 jaar ouder.",
        "het 25-jarig bestaan",
    ),
    "nl_BE": (
        "Ik ben [34] jaar.",
        "een [34]-jarige vrouw",
        "Ik werk er al 34 jaar.",
    ),
    "pl_PL": (
        "Mam [34] lata i mieszkam w Gdyni.",
        "Mam [25] lat.",
        "Mama ma [71] lat.",
        "Córka ma [1] rok.",
        "mężczyzna w wieku [34] lat",
        "[34]-letnia kobieta",
        "Dzwonił [34]-latek.",
        "Pomoc dla [34]-letniego pacjenta",
        "Wiek: [34] lata",
        "Mam 10 lat doświadczenia.",
        "Mam 5 lat stażu.",
        "5 lat temu",
        "Pracuję tu od 34 lat.",
        "za 3 lata",
        "Mam 2 lata gwarancji.",
        "10-letni staż",
        "Kredyt na 34 lata",
    ),
    "pt_BR": (
        "Tenho [34] anos e moro em Recife.",
        "Ela tem [34] anos.",
        "mulher com [34] anos de idade",
        "O bebê tem [1] ano.",
        "[34] anos completos",
        "Tenho 10 anos de experiência.",
        "há 34 anos",
        "A garantia é de 34 anos.",
        "Tem 10 anos que moro aqui.",
    ),
    "pt_PT": (
        "Tenho [34] anos.",
        "Aos [34] anos mudei-me para Faro.",
        "Tenho 10 anos de descontos.",
        "34 anos atrás",
    ),
    "vi_VN": (
        "Tôi [34] tuổi.",
        "Năm nay con gái tôi [7] tuổi, học lớp 2.",
        "Tôi làm ở đây 5 năm.",
        "10 tuổi nghề",
    ),
    "zh_CN": (
        "我今年[34]岁，住在成都。",
        "他[34]岁的时候",
        "患者[67]周岁",
        "工作了5年",
        "须18岁以上",
    ),
    "zh_SG": (
        "我今年[34]岁。",
        "今年[34]歲",
        "工作了5年",
    ),
    "hi_IN": (
        "मैं [34] साल का हूँ।",
        "[34] वर्षीय महिला",
        "वह [३४] साल की है।",
        "मेरी उम्र [34] वर्ष है",
        "5 साल पहले",
        "34 साल का अनुभव",
        "5 साल के लिए",
    ),
    "ar_AE": (
        "عمري [34] سنة وأسكن في دبي.",
        "عمره [34] عاماً",
        "أبلغ من العمر [34] عامًا",
        "تبلغ [٣٤] عاماً",
        "طفلة عمرها [5] سنوات",
        "قبل 34 سنة",
        "أعمل هنا منذ 34 سنة",
    ),
}


@pytest.mark.parametrize("locale", mostly_long(AGES, {"sv_SE", "zh_CN", "ar_AE", "hi_IN"}))
def test_the_number_of_years_is_an_age_in_every_locale(locale: str) -> None:
    wrong, engine = [], engine_for(locale)
    for marked in AGES[locale]:
        text = marked.replace("[", "").replace("]", "")
        found = [text[one.start : one.end] for one in disjoint(engine.find(text)) if one.entity.id == "age"]
        if found != re.findall(r"\[(.*?)\]", marked):
            wrong.append((marked, found))
    assert set(AGES) == set(LOCALES)
    assert wrong == []
