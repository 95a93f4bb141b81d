"""Temperature, top_p and extra fields: which provider takes them, and how they travel."""

from __future__ import annotations

from dataclasses import replace

import pytest

from piiloom.execution.money.budget import worst_case_usd
from piiloom.foundation.errors import UsageError
from piiloom.providers.prices import ModelSpec
from piiloom.providers.protocol import SamplingSettings
from piiloom.providers.sampling import check_sampling
from tests.fakes.llm_server import LLMServer
from tests.longer import case_by_case
from tests.providers.provider_calls import DATA, MODELS, complete, loopback, make_call

WISH = SamplingSettings(temperature=0.9, top_p=0.5, extra_body={"top_k": 40})


@pytest.mark.parametrize("name", ["openai", "compatible"])
def test_what_is_given_is_sent_and_nothing_else(name):
    with LLMServer(lambda _: DATA) as server:
        plain = make_call()
        complete(loopback(name, server), plain)
        complete(loopback(name, server), replace(plain, settings=replace(plain.settings, temperature=0.9, top_p=0.5, extra_body={"x": 1})))
        before, after = server.bodies
    assert {name: after[name] for name in after.keys() - before.keys()} == {"temperature": 0.9, "top_p": 0.5, "x": 1}
    assert {name: after[name] for name in before} == before


def test_anthropic_takes_other_fields():
    with LLMServer(lambda _: DATA) as server:
        call = make_call()
        complete(loopback("anthropic", server), replace(call, settings=replace(call.settings, extra_body={"metadata": {"user_id": "1"}})))
        assert server.bodies[0]["metadata"] == {"user_id": "1"}


@case_by_case(
    ("provider", "spec", "wish", "said"),
    [
        ("composer", {}, {"temperature": 1.0}, "the composer samples no tokens"),
        ("anthropic", {}, {"temperature": 1.0}, "Anthropic's API takes no temperature"),
        ("anthropic", {}, {"top_p": 0.5}, "Anthropic's API takes no top_p"),
        ("anthropic", {}, {"extra_body": {"top_k": 5}}, "Anthropic's API takes no top_k"),
        ("openai", {"effort": "low"}, {"temperature": 1.0, "top_p": 0.3}, "m takes no temperature and no top_p while it reasons"),
        ("openai", {"effort": "none"}, {"temperature": 1.0, "extra_body": {"reasoning": {"effort": "high"}}}, "effort high"),
        ("compatible", {}, {"extra_body": {"model": "dearer"}}, "cannot set model"),
        ("compatible", {}, {"extra_body": {"stream": True}}, "could not be read"),
        ("openai", {}, {"extra_body": {"service_tier": "priority"}}, "no budget could be kept"),
        ("openai", {}, {"extra_body": {"max_output_tokens": 9}}, "cannot set max_output_tokens"),
        ("compatible", {}, {"extra_body": {"temperature": 1}}, "setting of its own"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_its_reason(provider, spec, wish, said):
    with pytest.raises(UsageError) as caught:
        check_sampling(provider, "m", ModelSpec(**spec), SamplingSettings(**wish), where="sampling.situation")
    assert said in str(caught.value)
    assert str(caught.value).startswith("sampling.situation")


@pytest.mark.parametrize(
    ("provider", "spec", "wish"),
    [
        ("openai", {"effort": "none"}, WISH),
        ("openai", {}, WISH),
        ("openai", {"effort": "low"}, replace(WISH, extra_body={"reasoning": {"effort": "none"}})),
        ("compatible", {"effort": "low"}, WISH),
        ("anthropic", {}, SamplingSettings(extra_body={"metadata": {}})),
    ],
)
def test_what_can_be_taken_is(provider, spec, wish):
    check_sampling(provider, "m", ModelSpec(**spec), wish, where="")
    assert MODELS[provider]


def test_extra_fields_count_in_the_worst_case():
    call, spec = make_call(), ModelSpec(input=1e6, output=0.0)
    longer = replace(call, settings=replace(call.settings, extra_body={"logit_bias": {"50": 1}}))
    more = worst_case_usd(longer, call.render(), spec) - worst_case_usd(call, call.render(), spec)
    assert more == len('{"logit_bias": {"50": 1}}')


def test_a_setting_is_another_reply_only_where_it_is_given():
    plain = SamplingSettings(max_output_tokens=5, seed=3)
    assert plain.identity == (5, 3)
    others = [replace(plain, **{name: getattr(WISH, name)}) for name in ("temperature", "top_p", "extra_body")]
    assert len({repr(wish.identity) for wish in (plain, *others, WISH)}) == 5
