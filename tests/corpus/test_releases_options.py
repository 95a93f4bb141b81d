"""What a release may be asked to be."""

from __future__ import annotations

import pytest

from piiloom.corpus.releases.release_options import GROUP_BY, SplitSettings, parse_group_by, requested, settings_json
from piiloom.foundation.errors import UsageError
from tests.longer import case_by_case


@case_by_case(
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


LICENSES = {
    "cc-by-4.0": ["CC BY 4.0", "cc_by_4.0", "CC-BY 4", "CC BY", "ＣＣ ＢＹ 4.0", "CC–BY–4.0", "CC\u00a0BY\u00a04.0", " cc-by-4.0 "],
    "cc-by-2.5": ["Creative Commons Attribution 2.5 Generic", "CC BY 2.5 License"],
    "cc-by-nc-sa-4.0": ["CC BY-NC-SA 4.0", "Creative Commons Attribution-NonCommercial-ShareAlike 4.0 International License"],
    "cc-by-3.0": ["cc by 3.0"],
    "cc0-1.0": ["CC0", "CC0 1.0 Universal", "CC Zero"],
    "mit": ["MIT License", "The MIT Licence", "mit license"],
    "apache-2.0": ["Apache 2.0", "Apache License, Version 2.0", "apache2", "Apache"],
    "gpl-3.0": ["GPLv3", "GNU General Public License v3.0", "GPL 3"],
    "agpl-3.0": ["AGPL v3"],
    "bsd-3-clause": ["BSD 3-Clause", "3-clause BSD License", "BSD-3"],
    "mpl-2.0": ["Mozilla Public License 2.0", "MPL 2.0"],
    "odc-by": ["ODC BY", "odc_by"],
    "": [
        "CC-BY-4.0",
        "cc-by-4.0",
        "Mit",
        "ODbL",
        "Research use only",
        "GPL-3.0-or-later",
        "CC BY 9.0",
        "CC BY 4.0 with names",
        "1.0",
        "license",
    ],
}


@case_by_case("identifier", LICENSES)
def test_another_spelling_of_a_known_licence_is_refused_with_its_identifier(identifier: str) -> None:
    for told in LICENSES[identifier]:
        if not identifier:
            assert requested("v1", license=told).license == told
            continue
        with pytest.raises(UsageError) as error:
            requested("v1", license=told)
        assert error.value.remedy is not None
        assert error.value.remedy.startswith(f"Did you mean {identifier}?"), told


def test_a_paper_sets_the_sizes_unless_they_are_given() -> None:
    for given, sizes in (
        ({"paper": "capid"}, (200, 0)),
        ({"paper": "privacyai"}, (0.6, 0.15)),
        ({"paper": "privacyai", "test_size": 0.5}, (0.5, 0.15)),
    ):
        split = requested("r", **given).split  # type: ignore[arg-type]
        assert (split.test_size, split.validation_size) == sizes
