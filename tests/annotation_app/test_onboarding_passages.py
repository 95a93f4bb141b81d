"""What guidelines say about a type is found in tables, lists and paragraphs; a word that only contains its name is no mention."""

from __future__ import annotations

from piiloom.annotation_app.onboarding.guidelines import default_markdown, passages_of
from tests.longer import case_by_case

OWN = """# Age and health

A person's age is a
number of years. Agents have none.

- *insulin*: Health
- tall: appearance
2. **Sexual orientation** is told by
   what people say.

| this | that |
|---|:--|
| *born in 1979* | datetime, not age |
> a quote about health
"""


@case_by_case(
    ("name", "found"),
    [
        ("age", ["A person's age is a number of years. Agents have none.", "*born in 1979* · datetime, not age"]),
        ("health", ["*insulin*: Health", "a quote about health"]),
        ("sexual orientation", ["**Sexual orientation** is told by what people say."]),
        ("code", []),
    ],
)
def test_passages(name: str, found: list[str]) -> None:
    assert passages_of(OWN, [name]) == {name: found}


def test_the_guidelines_that_ship_say_something_of_neighbours() -> None:
    found = passages_of(default_markdown(), ["education", "health"])
    assert found["education"] == ["*second year of dentistry*: education · *dentist*: occupation"]
    assert all(len(one) <= 400 for one in found["health"])
    assert passages_of("", ["age"]) == {"age": []}
