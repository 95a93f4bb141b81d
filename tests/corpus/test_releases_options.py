"""What a release may be asked to be."""

from __future__ import annotations

import pytest

from piiloom.corpus.releases.release_options import parse_group_by, requested, settings_json
from piiloom.corpus.releases.settings import GROUP_BY, SplitSettings
from piiloom.foundation.errors import UsageError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "at least two folds"),
        ({"folds": -2}, "at least two folds"),
        ({"folds": 3, "test_size": 0.1}, "folds and a test size"),
        ({"folds": 3, "validation_size": 5}, "folds and a validation size"),
        ({"version": ""}, "not a version"),
        ({"version": "one two"}, "not a version"),
        ({"license": "  "}, "one line"),
        ({"license": "MIT\nfree"}, "one line"),
        ({"status": "good"}, "any, validated, adjudicated"),
        ({"min_agreement": 1.2}, "min agreement"),
        ({"max_value_overlap": -0.1}, "max value overlap"),
    ],
)
def test_what_cannot_be_is_one_clear_error(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        requested("v1", **options)  # type: ignore[arg-type] # the keywords are those of ReleaseOptions


def test_what_is_left_out_has_its_default() -> None:
    plain = requested("v1")
    assert (plain.split, plain.choice.status, plain.version, plain.license) == (SplitSettings(), "any", "1.0.0", None)
    folds = requested("v1", folds=5)
    assert (folds.split.folds, folds.split.test_size, folds.split.validation_size) == (5, 0, 0)
    assert settings_json(folds.split)["group_by"] == list(GROUP_BY)


@pytest.mark.parametrize(("text", "names"), [("all", GROUP_BY), ("none", ()), ("values, keys", ("keys", "values"))])
def test_groupings_are_named_in_any_order(text: str, names: tuple[str, ...]) -> None:
    assert parse_group_by(text) == names


@pytest.mark.parametrize("text", ["", "keys,", "all,keys", "stories"])
def test_an_unknown_grouping_lists_the_known(text: str) -> None:
    with pytest.raises(UsageError, match="keys, contexts, questions, values, parents"):
        parse_group_by(text)
