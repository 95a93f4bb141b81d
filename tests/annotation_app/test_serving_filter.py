"""What is turned away before the app sees it, and the headers of what is answered: middleware alone, without Streamlit."""

from __future__ import annotations

import anyio
import pytest
from httpx import ASGITransport, AsyncClient
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from piiloom.annotation_app.serving.current_user import LoginConfig, LoginRoutes, identities
from piiloom.annotation_app.serving.server import RequestFilter, SecurityHeaders, content_policy, inline_hashes, is_loopback
from piiloom.annotation_app.serving.services import get_services, set_services
from tests.annotation_app.people_tools import House
from tests.longer import case_by_case

OWN = "http://127.0.0.1:8501"


async def _answer(request):
    return PlainTextResponse("through")


async def _socket(websocket):
    await websocket.accept()
    await websocket.send_text("through")
    await websocket.close()


def _client(config, base=OWN):
    app = Starlette(
        routes=[Route("/{path:path}", _answer, methods=["GET", "POST"]), WebSocketRoute("/stream", _socket)],
        middleware=[Middleware(SecurityHeaders, policy=content_policy()), Middleware(RequestFilter, config=config)],
    )
    return TestClient(app, base_url=base, follow_redirects=False)


@pytest.fixture(params=["alone", "login"])
def config(request):
    house = House()
    yield LoginConfig() if request.param == "alone" else LoginConfig(logins=house.logins, accounts=house.accounts)
    house.shared.close()


@case_by_case(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:3000", "http://localhost:8501", "file://127.0.0.1:8501", "", "http://[::1"]
)
def test_a_foreign_origin_is_refused(config, origin):
    client = _client(config)
    assert client.post("/x", headers={"Origin": origin}).status_code == 403
    with pytest.raises(WebSocketDisconnect) as caught, client.websocket_connect("/stream", headers={"Origin": origin}):
        pass
    assert caught.value.code == 1008


def test_the_own_origin_and_none_get_through(config):
    client = _client(config)
    for headers in ({"Origin": OWN}, {}):
        assert client.post("/x", headers=headers).text == "through"
        with client.websocket_connect("/stream", headers={"Host": "127.0.0.1:8501", **headers}) as socket:
            assert socket.receive_text() == "through"


@case_by_case("host", ["evil.example", "evil.example:8501", "127.0.0.1.evil.example", "192.0.2.7", "", "[::1", "10.0.0.1"])
def test_without_a_login_only_names_of_this_machine_are_answered(host):
    client = _client(LoginConfig())
    assert client.get("/x", headers={"Host": host}).status_code == 403
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/stream", headers={"Host": host}):
        pass


@case_by_case("host", ["localhost", "LOCALHOST:8501", "127.0.0.1:1", "[::1]:8501", "127.3.2.1"])
def test_names_of_this_machine(host):
    assert _client(LoginConfig()).get("/x", headers={"Host": host}).status_code == 200


@case_by_case("header", ["X-Forwarded-For", "Forwarded", "X-Forwarded-Host", "X-Real-IP", "Via"])
def test_without_a_login_no_proxy_is_let_in(header):
    assert _client(LoginConfig()).get("/x", headers={header: "192.0.2.7"}).status_code == 403


def test_who_opens_the_app_without_a_session_comes_to_the_login_unless_a_cookie_may_have_been_kept_back():
    house = House()
    config = LoginConfig(logins=house.logins, accounts=house.accounts)
    client = _client(config)
    answer = client.get("/", headers={"Sec-Fetch-Site": "none"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/account/login")
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site"}).text == "through"
    assert client.get("/", headers={"Sec-Fetch-Site": "none", "Cookie": f"{config.cookie}=x"}).text == "through"
    assert client.get("/other", headers={"Sec-Fetch-Site": "none"}).text == "through"
    house.shared.close()


def test_headers_are_on_every_answer(config):
    client = _client(config)
    for answer in (client.get("/x"), client.post("/x", headers={"Origin": "http://evil.example"})):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "same-origin"
        policy = answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy
        assert "http" not in policy


def test_inline_scripts_are_allowed_by_their_hash_only():
    assert inline_hashes("<script>alert(1)</script><script src='x'></script>") == ["'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"]
    assert "'sha256-abc'" in content_policy(["'sha256-abc'"])


def test_form_tokens_fit_one_purpose_one_browser_and_one_server():
    config = LoginConfig()
    token = config.form_token("login", "cookie")
    assert config.form_fits("login", "cookie", token)
    others = [
        ("logout", "cookie", token),
        ("login", "other", token),
        ("login", None, token),
        ("login", "", config.form_token("login", "")),
        ("login", "cookie", "ü\ud800"),
    ]
    assert not any(config.form_fits(*words) for words in others)
    assert not LoginConfig().form_fits("login", "cookie", token)


@case_by_case(
    ("claims", "found"),
    [
        ({"sub": "7", "email": "a@x.org", "email_verified": True}, ("7", "a@x.org")),
        ({"sub": "7", "email": "a@x.org", "email_verified": "true"}, ("7", "a@x.org")),
        ({"sub": "7", "email": "a@x.org", "email_verified": False}, ("7",)),
        ({"sub": "7", "email": "a@x.org"}, ("7",)),
        ({"email_verified": True, "email": None}, ()),
        ({"sub": 7}, ()),
    ],
)
def test_what_a_provider_says_counts_only_when_it_is_verified(claims, found):
    assert identities(claims) == found


@case_by_case(
    ("host", "is_it"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),  # noqa: S104 - only asked about
        ("::", False),
        ("example.org", False),
        ("", False),
    ],
)
def test_loopback(host, is_it):
    assert is_loopback(host) is is_it


def test_the_services_of_a_process():
    with pytest.raises(RuntimeError):
        get_services()
    set_services("here")
    assert get_services() == "here"
    set_services(None)
    with pytest.raises(RuntimeError):
        get_services()


def test_the_server_says_that_it_runs_while_all_threads_wait_for_the_store():
    async def ask():
        threads = anyio.to_thread.current_default_thread_limiter()
        for number in range(int(threads.total_tokens)):
            threads.acquire_on_behalf_of_nowait(number)
        served = ASGITransport(Starlette(routes=LoginRoutes(LoginConfig()).routes()))
        async with AsyncClient(transport=served, base_url=OWN) as client:
            with anyio.fail_after(10):
                return (await client.get("/account/health")).json()

    assert anyio.run(ask) == {"status": "ok"}
