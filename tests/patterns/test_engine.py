"""All prefilters give the same matches: those of each pattern's exact expression on the folded text."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.patterns.engine import Match, PatternEngine, engine_for
from piiloom.patterns.writing import fold_text, write_pattern
from piiloom.taxonomy.entities.catalogue_file import Entity, EntityPattern
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue, load_catalogue
from piiloom.taxonomy.own_entities import own_catalogue
from tests.detection.own_entities import only_own
from tests.longer import case_by_case, examples

__all__ = ["only_own"]

PATTERNS = (
    EntityPattern(pattern=r"\d{8,10}", score=0.6),
    EntityPattern(pattern=r"\d{3}(?:[ \-]\d{3}){1,3}", score=0.6),
    EntityPattern(pattern=r"(?:AB)?\d{6}", score=0.6),
    EntityPattern(pattern=r"\+?\d{1,3}[ \-]?\d{4,6}", score=0.6, guard="none"),
    EntityPattern(pattern=r"[A-Za-z0-9\p{L}._]{1,64}@(?:[a-z0-9\-\p{L}]{1,20}\.){1,4}[a-z]{2,9}", score=0.6),
    EntityPattern(pattern=r"https?://[^ \n]+", score=0.6, boundary="none"),
    EntityPattern(pattern=r"\p{Lu}\p{L}{1,20} \p{Lu}\p{L}{1,20}", score=0.6),
    EntityPattern(pattern=r"str\. \p{L}{2,9}", score=0.6, ignore_case=True),
    EntityPattern(pattern=r"[^ \n]{3,12}", score=0.6, preceded_by=("pin", "kod żółw"), boundary="none", guard="none"),
    EntityPattern(pattern=r"\p{Han}{2,3}号", score=0.6, boundary="none"),
    EntityPattern(pattern=r"[a-f0-9]{40}", score=0.6),
    EntityPattern(pattern=r"\d{2,6}", score=0.6, preceded_by=("密码", "पिन", "رمز", "kod größe", "kod ς")),
    EntityPattern(pattern=r"[żß]{1,3}\d", score=0.6, ignore_case=True),
    EntityPattern(pattern=r"\d{1,3}", score=0.6, followed_by=("岁", "stara größe", "ab"), unless=("x", "dług")),
    EntityPattern(pattern=r"\d{1,3}", score=0.6, preceded_by=("pin", "σ"), followed_by=("ab", "ż1")),
)
_WORDS = """123 456-789 12345678 00 7 +48 AB ab x . , - / : ; @ http:// https://a.b/c jan.k@przykład.pl STR. Długa str. dluga
Żółć Nowak Anna 身份证 京市号 پ १२३४५६७८९ ４４０５ é ſtr. İ ı 🙂 pin kod żółw KOD ŻÓŁW pin:1234 密码 पिन رمز kod GRÖẞE Σ ς ż1 Ż1
ß2 ẞ2 岁 stara _ $ ' " 00000000""".split()
PIECES = st.sampled_from([*_WORDS, "\u00a0", "a\u0301", "\n", " ", "  "])
TEXTS = st.lists(PIECES | st.text("0123456789 .-ABab\u00e9", max_size=6), max_size=25).map("".join)


def entity(number: int, pattern: EntityPattern) -> Entity:
    return Entity(
        id=f"e{number}",
        locale="universal",
        name="e",
        native="e",
        domains=("IT",),
        structured=True,
        entity_type="code",
        identifier="direct",
        sensitivity=1,
        priority=50,
        patterns=(pattern,),
        validator=None,
        context=(),
        generator=None,
        near_misses=(),
        source="",
        confirmed=True,
        default=True,
        where=f"here:{number}",
    )


CATALOGUE = LocaleCatalogue(
    locale="pl_PL",
    region="PL",
    entities={f"e{number}": entity(number, pattern) for number, pattern in enumerate(PATTERNS)},
    against=(),
    notes=None,
    digest="",
)
ENGINES = {backend: PatternEngine(CATALOGUE, backend=backend) for backend in ("hyperscan", "re2", "regex")}
EXACT = [(f"e{number}", regex.compile(write_pattern(pattern).exact)) for number, pattern in enumerate(PATTERNS)]


def places(matches: list[Match]) -> set[tuple[str, int, int]]:
    return {(one.entity.id, one.start, one.end) for one in matches}


@pytest.mark.long
@settings(max_examples=examples(1200), deadline=None)
@given(TEXTS)
def test_all_backends_find_what_the_exact_expressions_match(text: str) -> None:
    folded = fold_text(text).text
    expected = {(name, *found.span(1)) for name, expression in EXACT for found in expression.finditer(folded)}
    assert {name: places(engine.find(text)) for name, engine in ENGINES.items()} == dict.fromkeys(ENGINES, expected)


@pytest.mark.long
@settings(max_examples=examples(1200), deadline=None)
@given(TEXTS)
def test_folding_keeps_lengths(text: str) -> None:
    folded = fold_text(text)
    assert len(folded.text) == len(text) == len(folded.data)
    assert fold_text(folded.text) == folded


def found(text: str, backend: str = "hyperscan") -> set[str]:
    return {text[one.start : one.end] for one in ENGINES[backend].find(text)}


@case_by_case(
    ("text", "value"),
    [
        ("tel १२३४५६७८ ok", "१२३४५६７８".replace("７", "७").replace("８", "८")),
        ("号码４４０５１４０１", "４４０５１４０１"),
        ("身份证44051401号", "44051401"),
        ("a 123\u00a0456\u2011789 b", "123\u00a0456\u2011789"),
        ("PIN: tajne!", "tajne!"),
        ("Kod Żółw = x9x9", "x9x9"),
        ("ul. STR. DŁUGA", "STR. DŁUGA"),
    ],
)
def test_forms_that_are_found(text: str, value: str) -> None:
    assert value in found(text)


@case_by_case("text", ["x12345678", "12345678é", "12345678_", "1.12345678", "12345678/9", "$12345678", "a\u030112345678", "12345678,99"])
def test_pieces_of_longer_words_and_numbers_are_not(text: str) -> None:
    assert "12345678" not in {text[one.start : one.end] for one in ENGINES["hyperscan"].find(text) if one.entity.id == "e0"}


def test_surrogates_and_empty_texts() -> None:
    assert found("") == set()
    assert "12345678" in found("\ud800 12345678 \udfff")


def test_hostile_runs_take_linear_time(tmp_path: Path) -> None:
    """Counted, not timed: the number of ends that a prefilter reports for a run of digits does not grow with it."""
    prefilter = ENGINES["hyperscan"]._prefilter
    ends = sum(len(one) for one in prefilter.places(b"1" * 100_000).values() if one is not None)
    assert ends < 50


OWN = """
locale: universal
entities:
  badge:
    name: Badge
    native: badge
    domains: [IT]
    structured: true
    type: code
    identifier: direct
    sensitivity: 2
    priority: 50
    patterns: [{pattern: 'BD-\\d{5}', score: 0.8}]
    source: our own
"""


def test_a_catalogue_with_own_types_finds_them(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN)
    engine = PatternEngine(load_catalogue("pl_PL", [own_catalogue(path)]), entity_ids=frozenset({"badge"}))
    assert [(one.start, one.end) for one in engine.find("badge BD-12345.")] == [(6, 14)]
    assert replace(engine.catalogue.entities["badge"], where="").source == "our own"


@pytest.mark.usefixtures("only_own")
def test_an_own_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    for number, (prefix, text) in enumerate((("BD", "badge BD-12345."), ("XY", "badge XY-12345."))):
        path.write_text(OWN.replace("BD", prefix))
        os.utime(path, (number, number))
        found = engine_for("pl_PL", (path,), backend="re2").find(text)
        assert "badge" in {one.entity.id for one in found}
