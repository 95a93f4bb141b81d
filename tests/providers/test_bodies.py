"""The three steps of a call, each on its own: the body that is sent, the body that comes, the completion it makes.

A line of a batch takes them without a connection of its own, so they must give what a live call gives.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import replace

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment, FileSystemLoader, meta, nodes

from piiloom.foundation.errors import ProviderError
from piiloom.foundation.yaml_files import data_folder
from piiloom.providers.errors import InvalidReply, Refused, ReplyRejected, Truncated
from piiloom.providers.replies import SchemaCache
from tests.fakes.llm_server import Fault, LLMServer
from tests.fakes.llm_wire import PATHS, BadCall, Request, read_request, reply_body
from tests.providers.provider_calls import DATA, KEY, MODELS, NAMES, SCHEMA, complete, loopback, make_call, mocked

each_provider = pytest.mark.parametrize("name", NAMES)
APIS = {"openai": "responses", "anthropic": "messages", "compatible": "chat"}
WHERE = {api: path for path, api in PATHS.items()}


def offline(name: str, **options):
    """Provider *name*, which nobody asks anything."""
    return mocked(name, lambda _: httpx2.Response(500), **options)


def answer_body(name: str, kind: str = "ok") -> dict:
    request = Request(api=APIS[name], model=MODELS[name], system="", user="", schema_name="", schema={}, ordinal=0)
    return reply_body(request, "{}" if kind == "refusal" else json.dumps(DATA), kind)


@each_provider
def test_a_live_call_sends_exactly_the_body(name):
    call = make_call(seed=5)
    with LLMServer(lambda _: DATA) as server:
        complete(loopback(name, server), call)
        sent = server.bodies
    assert sent == [offline(name).request_body(call, call.render())]


@each_provider
def test_the_body_is_of_plain_json_and_is_made_anew(name):
    provider, call = offline(name), make_call()
    body = provider.request_body(call, call.render())
    assert json.loads(json.dumps(body)) == body
    body["model"] = "another"
    assert provider.request_body(call, call.render())["model"] == MODELS[name]


@each_provider
def test_a_body_gives_the_completion_of_a_live_call(name):
    body = answer_body(name)
    live = complete(mocked(name, lambda _: httpx2.Response(200, json=body)))
    provider, call = offline(name), make_call()
    made = provider.completion_from(provider.read_body(body), call, latency_s=2.5)
    assert made == replace(live, latency_s=2.5)
    assert made.data == DATA
    assert made.usage.input >= made.usage.cached + made.usage.cache_write > 0


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_a_batch_has_its_own_price(name):
    provider, call = offline(name), make_call()
    reply = provider.read_body(answer_body(name))
    whole, half = (provider.completion_from(reply, call, latency_s=0.0, batch=batch).cost_usd for batch in (False, True))
    assert half == pytest.approx(whole / 2)


@each_provider
@pytest.mark.parametrize(("kind", "error"), [("refusal", Refused), ("truncation", Truncated), ("bad_json_reply", InvalidReply)])
def test_an_unusable_body_is_rejected_as_a_live_reply_is(name, kind, error):
    with LLMServer(lambda _: DATA, lambda _: Fault(kind=kind)) as server, pytest.raises(ReplyRejected) as live:
        complete(loopback(name, server))
    provider = offline(name)
    reply = provider.read_body(answer_body(name, kind))
    with pytest.raises(error) as caught:
        provider.completion_from(reply, make_call(), latency_s=0.0)
    assert str(caught.value) == str(live.value)
    assert caught.value.completion.finish_reason == live.value.completion.finish_reason
    assert caught.value.completion.cost_usd is not None or name == "compatible"


WORDS = """object type status output content text refusal usage error code message choices model stop_reason finish_reason response
completed failed incomplete output_text stop length server_error input_tokens input_tokens_details cached_tokens"""
words = st.sampled_from(WORDS.split())
bodies = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=5),
    max_leaves=12,
)


@each_provider
@given(bodies)
def test_any_body_gives_a_reply_or_a_known_error(name, body):
    heads = {"openai": {"object": "response"}, "anthropic": {"type": "message"}, "compatible": {"choices": [{"message": {}}]}}
    provider = offline(name)
    for variant in (body, {**body, **heads[name]} if isinstance(body, dict) else [body]):
        with suppress(ProviderError):
            reply = provider.read_body(variant)
            assert isinstance(reply.text, str)
            assert min(reply.usage.input, reply.usage.cached, reply.usage.output, reply.usage.cache_write) >= 0


@each_provider
def test_json_that_is_not_declared_as_json_is_read(name):
    content = json.dumps(answer_body(name)).encode()
    assert complete(mocked(name, lambda _: httpx2.Response(200, content=content, headers={"content-type": "text/plain"}))).data == DATA


@each_provider
def test_what_a_template_always_says_comes_first_and_stays_the_same(name):
    provider = offline(name)
    one, two = (provider.request_body(call, call.render()) for call in (make_call(user="one"), make_call(user="two")))
    for key in ("system", "instructions", "prompt_cache_key"):
        assert one.get(key) == two.get(key)
    if name == "compatible":
        assert one["messages"][0] == two["messages"][0]
    assert json.dumps(one) != json.dumps(two)


def test_no_system_prompt_holds_a_variable():
    environment = Environment(loader=FileSystemLoader(data_folder("prompts") / "templates"), autoescape=True)
    seen = 0
    for name in environment.list_templates(["j2"]):
        source = environment.loader.get_source(environment, name)[0]
        for block in environment.parse(source).find_all(nodes.Block):
            if block.name == "system":
                seen += 1
                found = meta.find_undeclared_variables(nodes.Template(block.body, environment=environment))
                assert found <= {"instruction"}, name  # that of a training set, which is one of two in all calls
    assert seen >= 10


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("openai", {"prompt_cache_key": "k" * 65}),
        ("openai", {"prompt_cache_key": 7}),
        ("anthropic", {"system": [{"type": "text", "text": ""}]}),
        ("anthropic", {"system": [{"type": "text", "text": "s", "cache_control": {"type": "persistent"}}]}),
    ],
)
def test_the_fake_server_refuses_what_the_makers_refuse(name, changes):
    call = make_call()
    body = {**offline(name).request_body(call, call.render()), **changes}
    with pytest.raises(BadCall):
        read_request(WHERE[APIS[name]], {"x-api-key": KEY}, body, 0, frozenset())


def test_a_long_template_id_is_cut_to_what_the_api_takes():
    call = replace(make_call(), template="t" * 100 + ".v1")
    assert offline("openai").request_body(call, call.render())["prompt_cache_key"] == "t" * 64


def test_a_schema_is_put_once_for_as_long_as_it_is_the_same_object():
    put = []
    cache = SchemaCache(lambda name, schema: put.append(name) or {"name": name, **schema})
    schema = {"type": "object"}
    assert cache("a", schema) is cache("a", schema)
    assert cache("b", schema) == {"name": "b", "type": "object"}
    assert cache("a", dict(schema)) == {"name": "a", "type": "object"}
    assert put == ["a", "b", "a"]
    made = [cache("many", {"title": str(i)}) for i in range(1000)]
    assert [entry["title"] for entry in made] == [str(i) for i in range(1000)]
    assert len(cache._made) <= 256


def test_the_schema_of_a_call_is_left_as_it_was():
    before = json.dumps(SCHEMA)
    for name in NAMES:
        offline(name).request_body(make_call(), make_call().render())
    assert json.dumps(SCHEMA) == before


def test_concurrent_calls_of_other_schemas_do_not_mix():
    schemas = [{"type": "object", "properties": {f"k{i}": {"type": "string"}}, "required": [f"k{i}"]} for i in range(20)]

    async def work(server: LLMServer):
        provider = loopback("openai", server)
        try:
            return await asyncio.gather(*(provider.complete(make_call(schema=schema)) for schema in schemas * 3))
        finally:
            await provider.aclose()

    with LLMServer(lambda request: {next(iter(request.schema["properties"])): "x"}) as server:
        completions = asyncio.run(work(server))
    assert [list(completion.data) for completion in completions] == [list(schema["properties"]) for schema in schemas * 3]
