"""Logging in and out of the real app, which runs in a process of its own."""

from __future__ import annotations

import pytest
from websockets.exceptions import InvalidStatus

from piiloom.annotation_app.serving.services import open_services
from piiloom.corpus.store.annotation_events import read_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.store_files import list_snapshots
from tests.annotation_app.people_tools import GOOD
from tests.annotation_app.served_app import served, tab

pytestmark = pytest.mark.browser  # no Chromium here, but the running app: those tests start one anyway

LOGGED_OUT = "You are not logged in"


def _make_store(path, **people):
    Store.open(path).close()
    services = open_services(path)
    for name, role in people.items():
        services.accounts.add(name, role, password=GOOD)
    services.close()
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    store = _make_store(tmp_path_factory.mktemp("login") / "s.duckdb", ana="annotator", ben="admin", slow="annotator")
    with served(store, "--snapshot-every", "0") as running:
        yield running


@pytest.fixture
def client(server):
    with server.client() as opened:
        yield opened


def test_a_login_sets_a_cookie_that_no_script_and_no_other_site_can_use(server, client):
    answer = server.log_in(client, "Ana", GOOD)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    [cookie] = [line for line in answer.headers.get_list("set-cookie") if line.startswith(server.cookie + "=")]
    attributes = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert attributes == {"httponly", "path=/", "samesite=strict"}
    assert answer.headers["cache-control"] == "no-store"
    with tab(server, client.cookies[server.cookie]) as show:
        assert "Logged in as ana (annotator)" in show()
    assert client.get("/account/login").headers["location"] == "/"


def test_a_session_is_dead_after_the_logout_also_in_a_tab_that_stayed_open(server, client):
    server.log_in(client, "ana", GOOD)
    token = client.cookies[server.cookie]
    with tab(server, token) as show:
        shown = show()
        assert "Logged in as ana" in shown
        form = shown.split('name=\\"token\\" value=\\"')[1].split("\\")[0]
        answer = client.post("/account/logout", data={"token": form}, headers={"Origin": server.url})
        assert (answer.status_code, answer.headers["location"]) == (303, "/account/login")
        assert "Max-Age=0" in answer.headers["set-cookie"]
        assert LOGGED_OUT in show()
        assert "Logged in as" not in show()
    with tab(server, token) as stolen:
        assert LOGGED_OUT in stolen()
    assert client.get("/account/login", headers={"Cookie": f"{server.cookie}={token}"}).status_code == 200


def test_a_wrong_password_and_an_unknown_name_read_the_same(server, client):
    wrong, unknown = server.log_in(client, "ana", "wrong password"), server.log_in(client, "ann<b>", "wrong password")
    assert wrong.status_code == unknown.status_code == 401
    assert "The name or the password is wrong." in wrong.text
    assert "ann&lt;b&gt;" in unknown.text
    assert "<b>" not in unknown.text
    assert "set-cookie" not in wrong.headers or server.cookie + "=" not in wrong.headers["set-cookie"]
    assert "wrong password" not in wrong.text + unknown.text


def test_guessing_is_slowed(server, client):
    answers = [server.log_in(client, "slow", f"guess number {number}") for number in range(5)]
    assert [answer.status_code for answer in answers[:4]] == [401] * 4
    assert answers[4].status_code == 429
    assert answers[4].headers["retry-after"] == "1"
    assert server.log_in(client, "slow", GOOD).status_code == 429
    assert "Too many tries. Wait 1 second and try again." in answers[4].text


@pytest.mark.parametrize("how", ["no token", "wrong token", "no cookie", "json", "huge"])
def test_a_form_that_is_not_ours_is_refused(server, client, how):
    client.get("/account/login")
    fields = {"name": "ana", "password": GOOD, "token": "0" * 64}
    sent = {"data": fields}
    if how == "no token":
        del fields["token"]
    elif how == "no cookie":
        client.cookies.clear()
    elif how == "json":
        sent = {"json": fields}
    elif how == "huge":
        fields["password"] = "x" * 20_000
    answer = client.post("/account/login", headers={"Origin": server.url}, **sent)
    assert answer.status_code == (400 if how in {"json", "huge"} else 403)
    assert server.cookie not in client.cookies


def test_a_logout_that_is_not_ours_is_refused(server, client):
    server.log_in(client, "ben", GOOD)
    for token in ("", "0" * 64):
        assert client.post("/account/logout", data={"token": token}).status_code == 403
    client.get("/account/logout")
    client.get("/auth/logout")  # Streamlit's own, for OIDC
    assert client.get("/account/login").status_code == 303  # to the app: still logged in


def test_another_site_gets_nowhere(server, client):
    assert server.log_in(client, "ana", GOOD, Origin="http://evil.example").status_code == 403
    for origin in ("http://evil.example", "http://localhost:3000"):
        with pytest.raises(InvalidStatus) as caught, tab(server, origin=origin):
            pass
        assert caught.value.response.status_code == 403


def test_who_has_no_session_sees_the_way_in_and_nothing_else(server, client):
    with tab(server) as show:
        shown = show()
    assert LOGGED_OUT in shown
    assert "Logged in as" not in shown
    assert client.get("/", headers={"Sec-Fetch-Site": "none"}).headers["location"] == "/account/login"


def test_headers_and_closed_doors(server, client):
    for path in ("/", "/account/login", "/account/health", "/account/style.css", "/_stcore/health"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "server" not in answer.headers
    assert client.get("/account/health").json() == {"status": "ok"}
    assert client.get("/_stcore/host-config").json()["allowedOrigins"] is not None
    assert client.post("/_stcore/agent/interact", json={}).status_code in {403, 404, 405}


@pytest.mark.long
def test_behind_https_cookies_are_secure_and_ctrl_c_stops_cleanly(tmp_path):
    store = _make_store(tmp_path / "s.duckdb", ana="admin")
    with served(store, "--behind-https", "--snapshot-every", "60") as server:
        with server.client() as client:
            page = client.get("/account/login", headers={"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.9"})
            assert all("Secure" in line for line in page.headers.get_list("set-cookie"))
        with tab(server) as show:
            show()
            code, out, err = server.stop()
    assert (code, err) == (0, "")
    assert "stopped" in out
    with Store.open(store, create=False) as again:
        assert sorted(event.kind for event in read_events(again)) == ["account_added", "guideline"]
    assert len(list_snapshots(store)) == 1


@pytest.mark.long
def test_a_config_file_of_streamlit_opens_no_doors(tmp_path):
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text(
        '[server]\nenableCORS = false\nbaseUrlPath = "x"\nenableAgentApi = true\n[server.trustedUserHeaders]\nX-User = "email"\n'
    )
    store = tmp_path / "s.duckdb"
    Store.open(store).close()
    with served(store, "--snapshot-every", "0") as server, server.client() as client, tab(server) as show:
        answer = client.get("/_stcore/health")
        assert answer.status_code == 200
        assert "access-control-allow-origin" not in answer.headers
        assert client.post("/_stcore/agent/interact", json={}).status_code in {403, 404, 405}
        assert "Logged in as local (admin)" in show()


def _requests_elsewhere(page, server):
    elsewhere = []
    page.on("request", lambda request: None if request.url.startswith((server.url, "data:", "blob:")) else elsewhere.append(request.url))
    return elsewhere


@pytest.mark.long
def test_in_chromium_a_person_logs_in_and_out_and_nothing_leaves_the_machine(browser, server):
    from playwright.sync_api import expect

    context = browser.new_context()
    page = context.new_page()
    faults = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    elsewhere = _requests_elsewhere(page, server)
    page.goto(server.url)
    expect(page).to_have_url(f"{server.url}/account/login")
    page.keyboard.type("ana")
    page.keyboard.press("Tab")
    page.keyboard.type("wrong password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    faults.clear()  # the answer 401 is written there
    page.keyboard.type(GOOD)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Logged in as ana (annotator)")).to_be_visible(timeout=20_000)
    assert server.cookie not in page.evaluate("document.cookie")
    second = context.new_page()
    second.goto(server.url)
    second.get_by_role("button", name="Log out").click(timeout=20_000)
    expect(second).to_have_url(f"{server.url}/account/login")
    page.reload()
    expect(page).to_have_url(f"{server.url}/account/login")
    assert (elsewhere, faults) == ([], [])
