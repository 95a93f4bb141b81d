"""The settings of a run: defaults, what is refused and how it is named, what makes another run."""

from __future__ import annotations

import pytest

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import plan_digest, run_digest, sendable_templates
from piiloom.generation.settings.setting_checks import make_config, read_config
from piiloom.taxonomy.text_shapes import load_registers
from tests.longer import case_by_case


def test_lengths_are_planned_item_by_item_unless_given():
    config = RunConfig()
    assert (config.situation_words, config.peripheral_words, config.question_words) == (None, None, (4, 60))
    assert config.registers == tuple(load_registers())
    assert (config.max_low, config.bank) == (8, None)
    assert config.composer.model_dump() == {"personas": True, "distractors": True, "scenarios_per_pair": None, "value_draws": None}


@case_by_case(
    ("setting", "value", "named"),
    [
        ("max_low", 9, "max_low"),
        ("max_low", -1, "max_low"),
        ("max_asides", 3, "max_asides"),
        ("situation_words", (9, 4), "situation_words: needs"),
        ("peripheral_words", "20", "peripheral_words: needs the fewest and the most words, as in 20-35"),
        ("peripheral_words", (0, 4), "peripheral_words: needs"),
        ("question_words", None, "question_words"),
        ("registers", (), "registers: needs one or more of forum post"),
        ("registers", ("forum post", "sonnet"), "registers: needs"),
        ("composer", {"scenarios_per_pair": 0}, "composer.scenarios_per_pair"),
        ("composer", {"value_draws": "many"}, "composer.value_draws"),
        ("composer", {"rhymes": True}, "composer: unknown setting 'rhymes'; known: distractors"),
        ("pairs", "health+hobby", "hobby"),
        ("locale", "xx_XX", "xx_XX"),
        ("provider", "oracle", "oracle"),
    ],
)
def test_a_setting_that_cannot_be_is_named(setting, value, named):
    with pytest.raises(UsageError) as caught:
        make_config({setting: value})
    assert named in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"max_low": 7},
        {"registers": ("terse list",)},
        {"situation_words": (9, 30)},
        {"question_words": (4, 59)},
        {"composer": {"personas": False}},
        {"composer": {"distractors": False}},
        {"composer": {"scenarios_per_pair": 3}},
        {"composer": {"value_draws": 100}},
        {"locale": "en_GB"},
    ],
    ids=lambda changes: next(iter(str(value) for value in changes.values())),
)
def test_what_shapes_the_records_makes_another_run(changes):
    assert run_digest(RunConfig(**changes)) != run_digest(RunConfig())


def test_how_much_and_how_fast_make_none():
    assert run_digest(RunConfig(samples=3, concurrency=1, margin=2, seed=9)) == run_digest(RunConfig())


def test_how_json_is_asked_for_makes_none():
    told = [RunConfig(provider="compatible", model="m", response_format=choice) for choice in ("auto", "json_object", "text")]
    assert len({run_digest(config) for config in told} | {plan_digest(config) for config in told}) == 2
    old = {key: value for key, value in told[0].model_dump(mode="json").items() if key != "response_format"}
    assert make_config(old) == told[0]  # runs that were kept before the setting was there


def test_a_run_file_gives_all_of_them(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(
        "recipe: staged\nmax_low: 2\nregisters: [terse list, chat message]\ncomposer: {distractors: false}\nsituation_words: [9, 30]\n"
    )
    config = read_config(file, {"max_low": 3})
    assert (config.max_low, config.registers, config.situation_words) == (3, ("terse list", "chat message"), (9, 30))
    assert (config.composer.distractors, config.composer.personas) == (False, True)
    # As it is kept with its run, and read again when that goes on.
    assert make_config(config.model_dump(mode="json")) == config
    file.write_text("max_low: 2\ncomposer: {distractor: false}\n")
    with pytest.raises(ConfigError, match=r"run\.yaml:2"):
        read_config(file, {})


def test_templates_of_other_rooms_shape_no_run():
    """A new template of detection, say, must not change the digest of runs, and so the ids of records and what was paid for already."""
    names = {template.id.partition(".")[0] for template in sendable_templates(RunConfig(recipe="staged"))}
    asides = {"situation", "peripheral", "paraphrase", "span_retrieval", "topics", "subtopics", "pii_value"}
    assert names == asides | {"question_abstracted", "question_draft", "question_personal"}
    growing = {template.id.partition(".")[0] for template in sendable_templates(RunConfig(recipe="staged", values="llm"))}
    assert growing == names | {"value_in_text"}


def test_the_composer_fits_no_values_to_a_text():
    for recipe in ("story", "staged"):
        with pytest.raises(UsageError, match="cannot fit values") as caught:
            make_config({"values": "llm", "recipe": recipe})
        assert "one persona" in (caught.value.remedy or "")


def test_a_paper_sets_what_it_publishes_unless_it_is_given():
    bands = {"situation_words": (20, 35), "peripheral_words": (20, 25)}
    model = {"provider": "openai"}
    for given, expected in (
        ({}, {"recipe": "staged", "values": "code", "relevance_shares": "published", **bands}),
        (model, {"recipe": "staged", "values": "llm", "relevance_shares": "published", **bands}),
        ({"peripheral_words": "9-30"}, {"recipe": "staged", **bands, "peripheral_words": (9, 30)}),
        ({"recipe": "story"}, {"recipe": "story", "relevance_shares": "published", "situation_words": None}),
        ({"recipe": "case", **model}, {"recipe": "case", "relevance_shares": "ours", "values": "code"}),
    ):
        config = make_config({"paper": "capid", **given})
        assert {name: getattr(config, name) for name in expected} == expected
        assert make_config(config.model_dump(mode="json")) == config
        # The digest is of the settings, whoever set them.
        assert run_digest(config) == run_digest(config.model_copy(update={"paper": None}))
    with pytest.raises(UsageError, match="PrivacyAI publishes no way") as caught:
        make_config({"paper": "privacyai"})
    assert "release --paper" in (caught.value.remedy or "")


def test_shares_of_relevance_are_planned_not_judged():
    with pytest.raises(UsageError, match="shares of relevance"):
        make_config({"provider": "openai", "relevance_shares": "published"})
    assert len({run_digest(RunConfig(relevance_shares=shares)) for shares in ("ours", "published")}) == 2
