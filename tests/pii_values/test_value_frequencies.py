"""No value of an open type dominates, and equal seeds give equal values in every process."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from piiloom.pii_values.drawing import ValueRequest, draw_value, draw_values
from piiloom.pii_values.persona import draw_persona
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import mostly_long

DRAWS = 10_000
PROGRAM = """
import random
from piiloom.pii_values.kinds import KINDS
from piiloom.pii_values.drawing import ValueRequest, draw_value, draw_values
from piiloom.pii_values.persona import draw_persona
from piiloom.foundation.seeding import derive_rng, digest
from piiloom.taxonomy.entity_types import shipped_taxonomy
rng = derive_rng("values", 7)
found = []
for locale in ("en_US", "en_GB", "en_CA", "en_AU", "en_IN", "en_SG"):
    for _ in range(5):
        p = draw_persona(rng, locale)
        found.append(repr(p.kin) + repr(p.conditions) + p.full_name + p.body.hair)
        found += [draw_value(p, t, None, rng, shipped_taxonomy()).text for t in KINDS]
        asked = [ValueRequest(entity_type=t) for t in ("health", "name", "datetime", "code")]
    found += [v.text for v in draw_values(p, asked, rng, shipped_taxonomy())]
print(digest(found))
"""


def heaviest(locale: str, draws: int, *, is_open: bool) -> dict[str, tuple[str, float]]:
    """The most frequent value of each open (or closed) type and its share."""
    rng = random.Random(locale)
    personas = [draw_persona(rng, locale) for _ in range(draws)]
    found = {}
    for entity_type in shipped_taxonomy().types.values():
        if entity_type.open is is_open:
            counts = Counter(draw_value(p, entity_type.name, None, rng, taxonomy=shipped_taxonomy()).text.casefold() for p in personas)
            text, count = counts.most_common(1)[0]
            found[entity_type.name] = (text, count / draws)
    return found


@pytest.mark.long
def test_no_value_of_an_open_type_exceeds_one_percent():
    shares = heaviest("en_US", DRAWS, is_open=True)
    assert len(shares) >= 10
    assert {name: found for name, found in shares.items() if found[1] > 0.01} == {}


@pytest.mark.long
def test_no_value_of_a_closed_type_exceeds_twelve_percent():
    shares = heaviest("en_US", 6000, is_open=False)
    assert len(shares) == 5
    assert {name: found for name, found in shares.items() if found[1] > 0.12} == {}


@pytest.mark.long
@pytest.mark.parametrize("locale", mostly_long(["en_GB", "en_CA", "en_AU", "en_IN", "en_SG"], quick={"en_GB"}))
def test_the_other_locales_are_as_varied(locale):
    # Fewer draws to save time, so the bound allows for three standard errors above 1%.
    assert {name: found for name, found in heaviest(locale, 3000, is_open=True).items() if found[1] > 0.0155} == {}


@pytest.mark.long
def test_most_values_of_two_thousand_records_differ():
    rng = random.Random(21)
    types = sorted(shipped_taxonomy().types)
    drawn = [
        (value.entity_type, value.text.casefold())
        for _ in range(2000)
        for value in draw_values(
            draw_persona(rng, "en_US"), [ValueRequest(entity_type=t) for t in rng.sample(types, 7)], rng, taxonomy=shipped_taxonomy()
        )
    ]
    assert len(set(drawn)) >= 0.6 * len(drawn)


@pytest.mark.long
def test_equal_seeds_agree_between_processes_whatever_faker_is_installed():
    root = Path(__file__).parents[2]
    outputs = set()
    for seed, before in (("0", ""), ("1", "import sys; sys.modules['faker'] = None\n")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        done = subprocess.run([sys.executable, "-c", before + PROGRAM], capture_output=True, text=True, check=True, env=environment)
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().strip()) == 64


def test_importing_is_light():
    program = (
        "import sys, piiloom.pii_values.drawing; print([m for m in ('faker', 'phonenumbers', 'stdnum', 'duckdb') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"
