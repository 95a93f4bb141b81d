"""Recall by group of names: who is in which group, what counts as found, and how sure the figures are."""

from __future__ import annotations

import json
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.bias import AXES, REASONS, BiasCollector, NameGroups, bias_table
from piiloom.evaluation.evaluating import EvaluationSettings
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from piiloom.evaluation.scoring.resampling import Interval, ResamplingSettings
from piiloom.foundation.errors import UsageError
from piiloom.pii_values.names.building import TableWriter, packed
from piiloom.pii_values.names.index import NamesIndex, builtin, open_bytes
from tests.longer import case_by_case, few

GROUPS = NameGroups(builtin())


def document(*values: str | tuple[str, str | None]) -> AnnotatedDocument:
    """A document with these mentions; a plain string is a name."""
    typed = [value if isinstance(value, tuple) else (value, "name") for value in values]
    return AnnotatedDocument(where="made", mentions=tuple(AnnotatedMention(text=text, entity_type=kind) for text, kind in typed))


def collected(pairs, match="multiset", groups=GROUPS, entity_type="name"):
    collector = BiasCollector(entity_type, match, groups)
    for gold, found in pairs:
        collector.add(Pair(gold=document(*gold), found=document(*found)))
    return collector


@case_by_case(
    ("name", "gender", "region"),
    [
        ("Adaeze Okafor", "female", "Africa"),
        ("Kwabena Asante", "male", "Africa"),
        ("Juan Mamani", "male", "Americas"),
        ("Haruka Watanabe", "female", "Asia"),
        ("Mary Nguyen", "female", "Asia"),  # without accents: all spellings of the index count
        ("Anneke de Vries", "female", "Europe"),  # "de" belongs to the family name
        ("Katarzyna Wiśniewska", "female", "Europe"),
        ("Tevita Fonua", "male", "Oceania"),
        ("Okafor, Adaeze", "female", "Africa"),
        ("Dr. John Q. Kowalski Jr.", "male", "Europe"),
        ("Mr. Adaeze Okafor", "female", "Africa"),  # the first name decides, not the title
        ("Abdul Rahman Tanaka", "male", "Asia"),  # nameparser takes "Abdul Rahman" as one first name
        ("Adaeze", "female", None),  # one word is a first name
        ("Mrs. Okafor", None, "Africa"),
        ("Xqz Zzt", None, None),
        ("", None, None),
    ],
)
def test_a_name_has_the_gender_of_its_first_name_and_the_region_of_its_last(name, gender, region):
    found = GROUPS.of(name)
    assert (found["gender"].group, found["region"].group) == (gender, region)
    assert all((one.group is None) == (one.reason is not None) for one in found.values())


@case_by_case(
    ("name", "gender", "region"),
    [
        ("Xqz Zzt", "unknown_first_name", "unknown_last_name"),
        ("Adaeze", None, "no_last_name"),
        ("Mrs. Okafor", "no_first_name", None),
    ],
)
def test_why_a_name_is_left_out(name, gender, region):
    found = GROUPS.of(name)
    assert (found["gender"].reason, found["region"].reason) == (gender, region)


@pytest.mark.long
@few
@given(st.text(max_size=40) | st.text("(),.'\"-& drmIV", max_size=40))
def test_any_text_is_looked_up(name):
    for axis, one in GROUPS.of(name).items():
        assert (one.group in AXES[axis]) != (one.reason in REASONS[axis])


def small_index() -> NamesIndex:
    """Names of two countries and of Antarctica, which is in no region; "Ex" is as frequent in a country of Europe as in one of Asia."""
    countries = {"AQ": "Antarctica", "FR": "France", "JP": "Japan", "NL": "Netherlands"}
    first = TableWriter(list(countries), classed=True, gendered=True, plain=True)
    for name, female, male in (("Bo", 500, 500), ("Dag", None, None), ("Noor", 700, 300)):
        first.add(name, {"NL": 1000}, {}, female, male)
    last = TableWriter(list(countries), classed=False, gendered=False, plain=True)
    last.add("Ex", {"FR": 400, "JP": 400, "NL": 200}, {}, None, None)
    last.add("Floe", {"AQ": 600, "NL": 400}, {}, None, None)
    last.add("Tie", {"JP": 500, "NL": 500}, {}, None, None)
    last.add("Vos", {"NL": 1000}, {}, None, None)
    return NamesIndex(open_bytes(packed({"first": first, "last": last}, countries, "made for a test"), "small"), "small")


@case_by_case(
    ("name", "gender", "region"),
    [
        ("Noor Vos", ("female", None, False), ("Europe", None, False)),
        ("Bo Floe", ("female", None, True), (None, "country_without_region", False)),  # though 40% of them are in Europe
        ("Dag Ex", (None, "unknown_first_name", False), ("Europe", None, True)),  # FR and JP are level, Europe has NL besides
        ("Noor Tie", ("female", None, False), ("Asia", None, True)),  # all is level: JP before NL
    ],
)
def test_ties_and_countries_without_region(name, gender, region):
    found = NameGroups(small_index()).of(name)
    assert [(one.group, one.reason, one.tied) for one in (found["gender"], found["region"])] == [gender, region]


# Two documents: Adaeze (female, Africa) stands three times in the first and is predicted once; Kwabena (male, Africa) is predicted
# in the wrong document; Haruka (female, Asia) is found; "Xqz" is nobody; the prediction of another type plays no part.
PAIRS = [
    (
        ["Adaeze Okafor", "Adaeze Okafor", "Adaeze Okafor", "Kwabena Asante", ("Amsterdam", "location")],
        ["Adaeze Okafor", ("Kwabena Asante", "location"), "Amsterdam"],
    ),
    (["Haruka Watanabe", "Xqz"], ["Haruka Watanabe", "Haruka Watanabe", "Kwabena Asante", ("Xqz", None)]),
]


@case_by_case(
    ("match", "female", "africa", "all_names"),
    [
        ("multiset", (4, 2), (4, 1), (6, 2)),  # of three Adaezes one, and Haruka once: 2 of 4
        ("membership", (4, 4), (4, 3), (6, 4)),  # one prediction finds all three
    ],
)
def test_recall_by_group(match, female, africa, all_names):
    told = collected(PAIRS, match).figures(ResamplingSettings(resamples=50)).to_json()
    assert list(told["gender"]) == ["male", "female"]
    assert list(told["region"]) == ["Africa", "Americas", "Asia", "Europe", "Oceania"]
    wanted = {"female": female, "male": (1, 0)}
    assert {name: (one["total"], one["found"]) for name, one in told["gender"].items()} == wanted
    assert {name: one["recall"] for name, one in told["gender"].items()} == {"female": female[1] / 4, "male": 0.0}
    regions = {name: (one["total"], one["found"]) for name, one in told["region"].items()}
    assert regions == {"Africa": africa, "Americas": (0, 0), "Asia": (1, 1), "Europe": (0, 0), "Oceania": (0, 0)}
    assert (told["overall"]["total"], told["overall"]["found"]) == all_names
    assert told["region"]["Europe"] == {"total": 0, "found": 0, "recall": None, "ci": None}
    assert told["left_out"] == {
        "gender": {"no_first_name": 0, "unknown_first_name": 1},
        "region": {"no_last_name": 1, "unknown_last_name": 0, "country_without_region": 0},
    }
    gap = told["gap"]
    assert (gap["gender"]["best"], gap["gender"]["worst"], gap["gender"]["value"]) == ("female", "male", female[1] / 4)
    assert (gap["region"]["best"], gap["region"]["worst"], gap["region"]["value"]) == ("Asia", "Africa", 1 - africa[1] / 4)
    assert json.loads(json.dumps(told)) == told


def test_intervals_of_what_is_certain_and_of_two_documents():
    certain = collected([(["Adaeze Okafor"], ["Adaeze Okafor"])] * 5 + [([], ["Adaeze Okafor"])]).figures()
    female = certain.groups["gender"]["female"]
    assert (female.recall, female.ci) == (1.0, Interval(low=1.0, high=1.0))
    assert certain.gaps == {"gender": None, "region": None}  # nobody to compare with
    assert certain.documents == 6
    # Of two documents, a quarter of the resamples has the first twice and a quarter the second: recall 1 and 0.
    two = collected([(["Adaeze Okafor"], ["Adaeze Okafor"]), (["Adaeze Okafor"], [])]).figures()
    assert (two.groups["gender"]["female"].recall, two.groups["gender"]["female"].ci) == (0.5, Interval(low=0.0, high=1.0))


def test_intervals_are_those_of_statistics():
    """Of 1,000 documents with one name each, 80% of women and 60% of men are found: the normal approximation says how sure that is."""
    pairs = [([name], [name] * found) for name, hits in (("Mary Kim", 400), ("John Kim", 300)) for found in [1] * hits + [0] * (500 - hits)]
    figures = collected(pairs).figures(ResamplingSettings(resamples=4000))
    women, gap = figures.groups["gender"]["female"], figures.gaps["gender"]
    assert gap is not None
    assert (women.recall, gap.value) == (0.8, pytest.approx(0.2))
    assert women.ci is not None
    assert (women.ci.high - women.ci.low) / 2 == pytest.approx(1.96 * math.sqrt(0.8 * 0.2 / 500), rel=0.07)
    assert (gap.ci.high - gap.ci.low) / 2 == pytest.approx(1.96 * math.sqrt((0.8 * 0.2 + 0.6 * 0.4) / 500), rel=0.07)


def test_less_confidence_is_a_narrower_interval_of_the_same_draws():
    pairs = [(["Mary Kim"], ["Mary Kim"] * (number % 2)) for number in range(40)]
    wide, narrow = (collected(pairs).figures(ResamplingSettings(confidence=confidence)) for confidence in (0.95, 0.5))
    assert wide.overall.ci.low < narrow.overall.ci.low < 0.5 < narrow.overall.ci.high < wide.overall.ci.high
    assert narrow.to_json()["bootstrap"]["confidence"] == 0.5
    assert "50% interval" in bias_table(narrow).columns


def test_a_document_is_drawn_as_a_whole():
    """Ten documents that are found or missed as a whole are no surer than ten mentions, however many mentions each has."""
    single = [(["Mary Kim"], ["Mary Kim"] * (number < 5)) for number in range(10)]
    repeated = [(gold * 20, found * 20) for gold, found in single]
    assert collected(repeated).figures().groups["gender"]["female"].ci == collected(single).figures().groups["gender"]["female"].ci


def test_seeds_are_stable_and_matter():
    pairs = [(["Mary Kim", "John Kim"], ["Mary Kim"] * (number % 3 > 0)) for number in range(40)]
    first, again, other = (collected(pairs).figures(ResamplingSettings(seed=seed, resamples=200)).to_json() for seed in (1, 1, 2))
    assert first == again
    assert first["gender"]["female"]["recall"] == other["gender"]["female"]["recall"]
    assert first["gender"]["female"]["ci"] != other["gender"]["female"]["ci"]


NAMES = st.lists(
    st.sampled_from(["Mary Kim", "John Kim", "Adaeze Okafor", "Kim", "Xqz Zzt", ("Mary Kim", "place"), ("x", None)]), max_size=5
)


@few
@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_no_order_matters_and_membership_finds_no_less(pairs, chance: random.Random):
    pairs.append((["Mary Kim"], []))  # some gold name, or it is an error
    shuffled = [(chance.sample(gold, len(gold)), chance.sample(found, len(found))) for gold, found in chance.sample(pairs, len(pairs))]
    multiset = collected(pairs).figures(ResamplingSettings(resamples=20))
    assert multiset == collected(shuffled).figures(ResamplingSettings(resamples=20))
    membership = collected(pairs, "membership").figures(ResamplingSettings(resamples=20))
    for axis, groups in multiset.groups.items():
        for name, one in groups.items():
            other = membership.groups[axis][name]
            assert one.found <= other.found <= one.total == other.total
        left_out = sum(multiset.left_out[axis].values())
        assert left_out + sum(one.total for one in groups.values()) == multiset.overall.total


def test_the_table_says_all_of_it():
    table = bias_table(collected(PAIRS).figures(ResamplingSettings(resamples=50)))
    rows = {row[1]: row[2:] for row in table.rows}
    assert rows["female"][:3] == ("4", "2", "0.500")
    assert rows["Europe"] == ("0", "0", "–", "–")
    assert rows["gap Asia − Africa"][2] == "+0.750"
    assert rows["left out: first name unknown"][0] == "1"
    assert builtin().source in table.note


def test_what_cannot_be_asked():
    with pytest.raises(UsageError, match="bias_match: must be 'multiset' or 'membership'"):
        EvaluationSettings.of({"bias": "name", "bias_match": "nearest"})
    with pytest.raises(UsageError, match=r"no gold mention is of the type 'NAME'.*Types of the gold file: location, name"):
        collected(PAIRS, entity_type="NAME").figures()
