"""Gender, country and region of names; and the parts that names are taken apart into."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.pii_values.names.index import builtin
from piiloom.pii_values.names.regions import REGIONS
from tests.longer import case_by_case

pytest.importorskip("nameparser", reason="nameparser is not installed")

from piiloom.pii_values.names.classifying import Classifier, classify, parted

INDEX = builtin()
CLASSIFIER = Classifier(INDEX)


@case_by_case(
    ("name", "gender", "country", "region"),
    [
        ("Adaeze Okafor", "female", "NG", "Africa"),
        ("Akosua Boateng", "female", "GH", "Africa"),
        ("Kwabena Asante", "male", "GH", "Africa"),
        ("Nguyễn Văn Hùng", "male", "VN", "Asia"),
        ("Nguyen Van Hung", "male", "VN", "Asia"),
        ("Kim Ji-woo", "female", "KR", "Asia"),
        ("Haruka Watanabe", "female", "JP", "Asia"),
        ("Katarzyna Wiśniewska", "female", "PL", "Europe"),
        ("Guðrún Jónsdóttir", "female", "IS", "Europe"),
        ("Γ", None, None, None),
        ("Tevita Fonua", "male", "TO", "Oceania"),
        ("Sereana Koroibete", "female", "FJ", "Oceania"),
        ("Wilner Toussaint", "male", "HT", "Americas"),
        ("Xqz Zzt", None, None, None),
        ("", None, None, None),
    ],
)
def test_names_are_classified(name, gender, country, region):
    facts = CLASSIFIER.classify(name)
    assert (facts.gender, facts.region) == (gender, region)
    assert (facts.countries[0][0] if facts.countries else None) == country
    assert (facts.known == "none") == (country is None)


def test_a_title_tells_the_gender_and_is_no_name():
    facts = CLASSIFIER.classify("Mrs. Okafor")
    assert (facts.gender, facts.gender_share, facts.family, facts.known) == ("female", 1.0, "Okafor", "family")
    assert CLASSIFIER.classify("Smt Lakshmi Iyer").given == "Lakshmi"


@pytest.mark.parametrize("name", ["Md Rahman", "Md. Rahman", "Mohd Rahman", "MD RAHMAN"])
def test_md_is_a_given_name(name):
    parts = parted(name)
    assert parts.given == ("Mohammed",)
    assert parts.family.casefold() == "rahman"
    assert CLASSIFIER.classify(name).gender == "male"


def test_ch_is_a_title():
    assert parted("Ch Imran Ali").given == ("Imran",)
    assert parted("Ch").given == ("Ch",)


def test_parts_of_western_names():
    assert parted("Dr. Maria de la Cruz Jr.")[:4] == ("Dr.", ("Maria",), "de la Cruz", "Jr.")
    assert parted("van der Berg, Anna")[:4] == ("", ("Anna",), "van der Berg", "")


def test_unknown_parts_are_told():
    assert CLASSIFIER.classify("Akosua Xqzzt").known == "given"
    assert CLASSIFIER.classify("Xqzzt Boateng").known == "family"
    assert CLASSIFIER.classify("Xqzzt Boateng").gender is None


def test_as_json_is_plain():
    found = classify("Adaeze Okafor", INDEX).as_json()
    assert found["countries"][0] == {"country": "NG", "share": CLASSIFIER.classify("Adaeze Okafor").countries[0][1]}


@given(st.text(max_size=40))
def test_any_text_is_classified(text):
    facts = CLASSIFIER.classify(text)
    assert facts.region is None or facts.region in REGIONS
    assert all(0 <= share <= 1 for _, share in facts.countries)
    assert sum(share for _, share in facts.countries) <= 1.002
    assert facts.gender_share is None or 0.5 <= facts.gender_share <= 1
