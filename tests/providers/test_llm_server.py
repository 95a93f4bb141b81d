"""The fake server itself: seeded, strict, and honest about what it did."""

from __future__ import annotations

import socket
from collections import Counter
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.fakes.llm_server import LLMServer, seeded_faults
from tests.longer import case_by_case
from tests.providers.provider_calls import complete, loopback


def test_seeded_faults_repeat_and_keep_their_shares():
    rates = {"rate_limit": 0.1, "cut": 0.05}
    one, two = seeded_faults(1, rates), seeded_faults(2, rates)
    kinds = [getattr(one(i), "kind", "ok") for i in range(4000)]
    assert kinds == [getattr(seeded_faults(1, rates)(i), "kind", "ok") for i in range(4000)]
    assert kinds != [getattr(two(i), "kind", "ok") for i in range(4000)]
    counts = Counter(kinds)
    assert counts["rate_limit"] == pytest.approx(400, abs=80)
    assert counts["cut"] == pytest.approx(200, abs=60)


@pytest.mark.parametrize("rates", [{"earthquake": 0.1}, {"cut": 0.6, "quota": 0.6}])
def test_impossible_rates_are_refused(rates):
    with pytest.raises(ValueError, match="faults"):
        seeded_faults(1, rates)


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/chat/completions", "/v1/messages"])
def test_it_refuses_what_the_makers_refuse(path):
    with LLMServer(lambda _: {}) as server:
        headers = {"authorization": "Bearer k"}
        chat = {"messages": [{"role": "user", "content": "hi"}], "response_format": {"type": "json_object"}}  # nothing says "JSON"
        wrong = chat if "chat" in path else {"temperature": 1}
        assert httpx2.post(server.root + path, json={"model": "m", **wrong}, headers=headers).status_code == 400
        assert httpx2.post(server.root + path, json={"model": "m"}).status_code == 401
        assert httpx2.post(f"{server.root}/v2/other", json={}, headers=headers).status_code == 404
        assert server.outcomes == {"rejected": 3}
        assert not server.billed


@case_by_case("path", ["/v1/responses", "/v1/messages", "/v1/files", "/v1/batches", "/v1/messages/batches"])
@case_by_case("sent", [b"", b'{"model": "m"'])
def test_a_client_that_dies_while_it_sends_has_asked_for_nothing(path, sent):
    """What a killed run leaves: headers that promise a body, and a connection that ends before it."""
    with LLMServer(lambda _: {}) as server:
        address = urlsplit(server.root)
        with socket.create_connection((address.hostname, address.port)) as client:
            head = f"POST {path} HTTP/1.1\r\nhost: {address.netloc}\r\nauthorization: Bearer k\r\ncontent-length: 99\r\n\r\n"
            client.sendall(head.encode() + sent)
            client.shutdown(socket.SHUT_WR)
            client.settimeout(10)
            assert client.recv(1) == b""
        assert server.requests == 0
        assert not server.batches.asked


def test_an_exception_in_answer_is_told_when_the_server_closes():
    def answer(request):
        raise LookupError(request.schema_name)

    server = LLMServer(answer).__enter__()
    with pytest.raises(Exception, match="connection was lost"):
        complete(loopback("openai", server))
    with pytest.raises(LookupError, match="situation"):
        server.close()
