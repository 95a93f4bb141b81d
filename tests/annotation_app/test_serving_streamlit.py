"""``streamlit run annotation_app/app.py`` serves the app as ``piiloom annotate`` does: the same checks, routes and headers."""

from __future__ import annotations

import shutil
import socket
import time

import pytest
from editor_page import marked
from websockets.exceptions import InvalidStatus

from piiloom.corpus.store.database import Store
from tests.annotation_app.app_driver import AppPage, documents_in, labels, make_project, record_of
from tests.annotation_app.people_tools import GOOD
from tests.annotation_app.served_app import ROOT, by_piiloom, by_streamlit, served, started, tab

pytestmark = pytest.mark.browser  # the running app, as in test_serving_doors

RECORD = record_of("r-1", marked("[[Ada|name|low]] met Grace in [[Kent|location|high]]."))
STILL = ("--snapshot-every", "0")


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path / "s.duckdb", [RECORD], {"ana": "annotator"})


@pytest.fixture
def alone(tmp_path):
    """A store without accounts."""
    return make_project(tmp_path / "s.duckdb", [RECORD], {})


def test_an_edit_in_the_browser_is_stored(browser, project):
    with served(project, *STILL, by=by_streamlit) as server:
        page = AppPage(browser, server, "ana")
        page.open()
        page.at(RECORD)
        page.press("Tab", "r")
        page.saved()
        # A page that is still open does not keep the server from stopping in order.
        code, out, err = server.stop()
        page.context.close()
    assert (code, "everything that was shown as saved is in the store" in out, "Traceback" in err) == (1, True, False), err
    assert labels(documents_in(project)["r-1", "ana"])[0] == ("Ada", "name", "high")


def answers(server, login):
    """Status, headers and beginning of the answer to each request that somebody may send."""
    own, foreign = server.url, "http://evil.example"
    requests = [
        ("GET", "/", {}),
        ("GET", "/", {"Host": "evil.example"}),
        ("GET", "/", {"Sec-Fetch-Site": "none"}),
        ("GET", "/", {"X-Forwarded-For": "10.0.0.9"}),
        ("POST", "/account/login", {"Origin": foreign}),
        ("GET", "/account/login", {}),
        ("GET", "/_stcore/metrics", {}),
        ("GET", "/_stcore/host-config", {}),
        ("GET", "/_stcore/health", {}),
        ("PUT", "/_stcore/upload_file/s/f", {"Origin": own}),
        ("GET", "/media/0123456789abcdef.png", {}),
        ("GET", "/account/files/exports/v1-native", {}),
        ("GET", "/app/static/secret.txt", {}),
    ]
    dropped = {"date", "server", "etag", "last-modified", "set-cookie"}
    given = []
    for method, path, headers in requests:
        with server.client() as client:
            if login:
                server.log_in(client, "ana", GOOD)
            answer = client.request(method, path, headers=headers)
        kept = {name: value for name, value in answer.headers.items() if name not in dropped}
        cookies = sorted(one.partition(";")[2] for one in answer.headers.get_list("set-cookie"))
        given.append((method, path, headers if "Origin" not in headers else "", answer.status_code, kept, cookies, answer.text[:40]))
    for origin in (foreign, f"{own}0", "null"):
        with pytest.raises(InvalidStatus) as caught, tab(server, origin=origin):
            pass
        given.append(("socket", caught.value.response.status_code))
    return given


@pytest.mark.long
@pytest.mark.parametrize("accounts", [False, True])
def test_every_request_is_answered_as_by_piiloom_annotate(tmp_path, accounts):
    path = make_project(tmp_path / "s.duckdb", [RECORD], {"ana": "annotator"} if accounts else {})
    found = {}
    for by in (by_piiloom, by_streamlit):
        with served(path, *STILL, by=by) as server:
            found[by] = answers(server, accounts)
            port = int(server.url.rpartition(":")[2])
            # At the loopback address only: no other address of this machine answers.
            for host in ("127.0.0.2", "::1", socket.gethostbyname(socket.gethostname())):
                if host != "127.0.0.1":
                    with pytest.raises(OSError, match=r"refused|unavailable|assign|unreachable"):
                        socket.create_connection((host, port), timeout=5)
    forwarded = [place for place, answer in enumerate(found[by_streamlit]) if "X-Forwarded-For" in str(answer)]
    assert [found[by_streamlit][place][3] for place in forwarded] == [403]
    for place in forwarded:  # uvicorn trusts a proxy on this machine under streamlit run, so this request is refused there
        for given in found.values():
            given[place] = None
    assert found[by_streamlit] == found[by_piiloom]


def test_a_changed_config_file_does_not_undo_the_settings(alone):
    folder = alone.parent / ".streamlit"
    folder.mkdir()
    with served(alone, *STILL, by=by_streamlit) as server, server.client() as client:
        address = "/_stcore/upload_file/s/f"
        before = client.put(address, files={"file": b"x"}).status_code
        (folder / "config.toml").write_text("[server]\nenableXsrfProtection = false\n")
        while "config option section was detected" not in server.process.stderr.readline():
            pass
        time.sleep(0.5)
        assert [before, client.put(address, files={"file": b"x"}).status_code] == [403, 403]


@pytest.mark.long
def test_what_must_not_be_served_is_refused_with_a_reason(alone):
    folder = alone.parent
    copied = shutil.copy2(ROOT / "annotation_app" / "app.py", folder / "app.py")  # without the .streamlit/config.toml beside it
    anywhere = ("--server.address", "0.0.0.0")  # noqa: S104 - refused
    cases = [
        (by_streamlit(alone, streamlit=anywhere), 2, "nobody could log in"),
        (by_streamlit(alone, "--single-user", streamlit=anywhere), 2, "without a login the app serves this machine only"),
        (by_streamlit(alone, "--behind-https"), 2, "nobody could log in"),
        (by_streamlit(alone, script=copied), 2, "Streamlit was given no address, and listens at all of this machine"),
        (by_streamlit(folder / "none.duckdb"), 1, "none.duckdb"),
        (by_streamlit(alone, "--port", "80"), 2, "No such option: --port"),
        (by_streamlit(alone, "--help"), 0, "--snapshot-every"),
    ]
    for command, code, said in cases:
        process = started(command, folder)
        out, err = process.communicate(timeout=60)
        told = " ".join((out + err).split())
        assert (process.returncode, said in told, "Traceback" in told) == (code, True, False), (command, told)


def test_a_store_that_another_process_holds_is_told_as_that(alone):
    with Store.open(alone, create=False):
        process = started(by_streamlit(alone), alone.parent)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, "holds the store" in err, "Traceback" in err, out) == (1, True, False, ""), err
