"""Runs in locales for which there are no word lists: values from Faker, CLDR and rules of the country, all else from the model."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from stdnum import iban

from piiloom.corpus.alignment import MARK, mark, strip_marks
from piiloom.corpus.store.database import Store
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import count_words
from piiloom.generation.item import ItemValue
from piiloom.generation.settings.digests import plan_digest, run_digest
from piiloom.generation.settings.setting_checks import make_config, notes_on_locale
from piiloom.generation.stage import Fault
from piiloom.generation.stages import values
from piiloom.generation.stages.texts import read_marked
from tests.fakes.llm_server import LLMServer
from tests.generation.case_author import CaseAuthor
from tests.generation.llm_runs import check_exact, config_for, read_back, set_keys, start
from tests.generation.scripted_provider import an_item, in_turn, run_stage

PROSE = {  # a sentence with a value, and one without
    "de_DE": ("Ich weiß nicht, wie ich das regeln soll, und {} spielt da mit hinein.", "Bisher hat mir niemand sagen können, was gilt."),
    "zh_CN": ("这件事我拖了很久，一直不知道该怎么办，其中也有{}的关系。", "到现在为止谁也说不清楚到底应该怎么处理才好。"),
    "fil_PH": ("Hindi ko alam kung ano ang gagawin ko, at kasama rito ang {}.", "Wala pang nakapagsabi sa akin kung ano ang tama."),
}
SETTINGS = {"provider": "compatible", "locale": "de_DE", "recipe": "case"}


class LocalAuthor(CaseAuthor):
    """Writes its texts in the language of *locale*; what else it writes is of no language."""

    def __init__(self, locale: str) -> None:
        super().__init__(11)
        self._with, self._without = PROSE[locale]

    def __call__(self, request):
        reply = super().__call__(request)
        fewest = re.search(r"About \d+ words \((\d+) to \d+\)", request.user)
        if request.schema_name != "case_post" or fewest is None:
            return reply
        text = " ".join(self._with.format(mark(*one)) for one in re.findall(rf"^- {MARK.pattern}", request.user, re.MULTILINE))
        while count_words(strip_marks(text).text) < int(fewest[1]):
            text += f" {self._without}"
        return {"text": text}


@pytest.mark.parametrize("locale", ["zh_CN", pytest.param("de_DE", marks=pytest.mark.long), pytest.param("fil_PH", marks=pytest.mark.long)])
def test_a_model_writes_records_of_any_locale(tmp_path, monkeypatch, locale):
    set_keys(monkeypatch)
    with LLMServer(LocalAuthor(locale)) as server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for("openai", server, recipe="case", locale=locale, samples=6))
        kept = read_back(store)
    assert progress.status == "finished"
    assert {row.reason_code for row in kept.rejects} <= {"repeated_value"}  # the author has English words for two ages of one text
    assert len(kept.records) == 6
    if locale == "zh_CN":  # no blanks part its words, so a value may adjoin others
        assert all(span.text_in(record.context).strip() for record in kept.records for span in record.spans)
    else:
        check_exact(kept.records)
    assert {record.locale for record in kept.records} == {locale}
    # The two questions of a text share one set of values, asked for once.
    asked = [row for row in kept.completions if row.stage == values.NAME and row.verdict == "accepted"]
    assert len({row.item_id for row in asked}) == len(asked)


def test_the_composer_refuses_a_locale_without_stories_and_names_the_way_out():
    with pytest.raises(UsageError, match=r"no stories for de_DE.*--provider.*The composer writes en_US"):
        make_config({"locale": "de_DE", "only_types": ("health", "occupation")})


def test_versions_of_the_libraries_count_in_such_locales_only(monkeypatch):
    given = {"provider": "compatible", "model": "m", "base_url": "http://127.0.0.1:1/v1"}
    configs = [make_config({**given, "locale": one}) for one in ("en_US", "de_DE")]
    before = [(run_digest(one), plan_digest(one)) for one in configs]
    monkeypatch.setattr("piiloom.generation.settings.digests.versions", lambda: {"babel": "0", "faker": "0"})
    assert [(run_digest(one), plan_digest(one)) == old for one, old in zip(configs, before, strict=True)] == [True, False]
    assert notes_on_locale(configs[0]) == []
    notes = "\n".join(notes_on_locale(configs[1]))
    assert all(word in notes for word in ("names from de_DE", "CLDR", "libphonenumber", "the model", "not checked"))


def test_code_draws_what_it_can_and_the_model_is_told_of_the_place():
    first = an_item(()).plan.wanted[0]
    kinds = (
        ("code", "bank_account"),
        ("code", "vin"),
        ("name", "full_name"),
        ("location", "city"),
        ("finance", "payment"),
        ("datetime", "date"),
    )
    wanted = [replace(first, id=f"v{number}", entity_type=kind, subtypes=(name,)) for number, (kind, name) in enumerate(kinds, 1)]
    item = an_item((), wanted=tuple(wanted), locale="de_DE", asides=())
    (found, made), (again, _) = (run_stage(values.STAGE, item, in_turn({"value": "340 Euro im Monat"}), **SETTINGS) for _ in range(2))
    assert found.values == again.values
    assert [(value.entity_type, value.subtype) for value in found.values] == list(kinds)
    assert iban.is_valid(found.values[0].text)
    assert found.values[0].text.startswith("DE")
    (call,) = made.provider.calls
    assert call.variables["language"] == "German as written in Germany"
    assert "as in 1.234,50 €" in call.variables["country"]


def test_a_marked_value_may_take_the_ending_that_its_place_asks_for():
    bahn = ItemValue(id="v1", entity_type="organization", subtype="employer", text="Deutsche Bahn", relevance="low", subject="self")
    reply = "Ich bin bei der [[v1|Deutschen Bahn]]."
    assert read_marked(reply, [bahn], inflects=True).text == "Ich bin bei der Deutschen Bahn."
    for refused in (bahn, replace(bahn, text="Deutsche Post"), replace(bahn, entity_type="code")):
        with pytest.raises(Fault, match="must appear unchanged"):
            read_marked(reply, [refused], inflects=refused is not bahn)
