"""``piiloom benchmark write`` over real HTTP, and ``benchmark make --carriers`` from what it writes."""

from __future__ import annotations

import json
import os
import signal

import pytest

from piiloom.detection.benchmark.carriers import read_carriers
from tests.detection.carrier_author import Author, kinds_of
from tests.fakes.llm_server import Fault, LLMServer
from tests.providers.provider_calls import MODELS

TINY = ("--length", "tiny", "--domain", "CPG", "--domain", "Finance")
OWN = """locale: pl_PL
domain: IT
checked_by: null
written_by: openai some-model
documents:
  - id: mine-1
    form: chat
    length: tiny
    text: "hej {given_name@1}, napisz na {email@1}, zgłoszenie {!order_number}"
"""


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")


@pytest.fixture
def asking(tmp_path):
    """The command over a server."""

    def make(server, *more, out="carriers"):
        model = ("--provider", "openai", "--model", MODELS["openai"], "--base-url", server.openai_url)
        place = ("--out", tmp_path / out, "--replies", tmp_path / "s.duckdb", "--locale", "pl_PL")
        return ("benchmark", "write", *place, *model, *more)

    return make


def rejects(folder):
    return [json.loads(line) for line in (folder / "pl_PL" / "rejects.jsonl").read_text(encoding="utf-8").split("\n") if line]


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.long
def test_carriers_are_written_and_paid_once_and_make_a_benchmark(cli, asking, tmp_path):
    out = tmp_path / "carriers"
    with LLMServer(Author()) as server:
        outcome = cli(*asking(server, *TINY, "--documents", 4, "--json"))
        assert outcome.code == 0, outcome.err
        assert cli(*asking(server, *TINY, "--documents", 4, "--concurrency", 1, out="again")).code == 0
        assert server.requests == 4
    told = json.loads(outcome.out)
    assert (told["kept"], told["rejected"], told["cost"]["answered"]) == (4, {}, 4)
    assert told["files"] == ["pl_PL/finance.yaml", "pl_PL/cpg.yaml", "pl_PL/written.json"]
    assert files(out) == files(tmp_path / "again")
    carriers = read_carriers(out / "pl_PL" / "cpg.yaml")
    assert [(one.locale, one.domain, one.lengths, one.checked_by) for one in carriers] == [("pl_PL", "CPG", ("tiny",), None)] * 2
    assert {one.written_by for one in carriers} == {f"openai {MODELS['openai']}"}
    made = cli("benchmark", "make", "--carriers", out, "--out", tmp_path / "made", "--documents", 6)
    assert made.code == 0, made.err
    assert f"carrier texts were written by openai {MODELS['openai']}" in made.out
    assert "no native speaker has checked the carrier texts" in made.out
    rows = [json.loads(line) for line in (tmp_path / "made" / "benchmark.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 6
    assert all(row["context"][span["start"] : span["end"]] == span["text"] for row in rows for span in row["spans"])
    assert {len(row["spans"]) for row in rows} == {1}
    about = json.loads((tmp_path / "made" / "benchmark.json").read_text(encoding="utf-8"))
    assert (about["carriers"]["carriers"], about["carriers"]["unchecked"]) == (4, 4)
    assert about["counts"]["domains"] == {"CPG": 3, "Finance": 3}
    assert len(about["counts"]["look_alikes"]) == 1


@pytest.mark.long
def test_every_length_becomes_documents(cli, asking, tmp_path):
    words = ("--domain", "Healthcare", "--documents", 4)
    with LLMServer(Author()) as server:
        outcome = cli(*asking(server, *words))
        assert outcome.code == 0, outcome.err
        assert "4 carriers written by openai" in outcome.out
        more = cli(*asking(server, "--domain", "Healthcare", "--documents", 5, "--force", "--json"))
        assert server.requests == 5
    assert json.loads(more.out)["kept"] == 5
    made = ("benchmark", "make", "--carriers", tmp_path / "carriers", "--quiet", "--json")
    told = json.loads(cli(*made, "--out", tmp_path / "made", "--documents", 8).out)
    assert told["lengths"] == {"tiny": 2, "short": 2, "medium": 2, "long": 2}
    both = json.loads(cli(*made, "--out", tmp_path / "both", "--with-shipped", "--locale", "pl_PL", "--documents", 24).out)
    assert (set(both["domains"].values()), both["carriers"]["with_shipped"]) == ({4}, True)
    assert both["carriers"]["carriers"] > 60


@pytest.mark.long
def test_a_faulty_reply_is_asked_again_with_its_fault_and_then_rejected(cli, asking, tmp_path):
    def faulty(reply, request):
        (kind,) = kinds_of(request.user)[:1]
        broken = {
            "text message": {"text": f"{{{kind}}} {{pl_nothing}} {{!order_number}}"},
            "note": {"text": f"{{{kind}}} nr 1234567 {{!order_number}}"},
        }
        mended = "could not be used" in request.user and reply["form"] == "text message"
        return reply if mended else reply | broken.get(reply["form"], {})

    with LLMServer(Author(faulty)) as server:
        outcome = cli(*asking(server, "--length", "tiny", "--domain", "IT", "--documents", 5, "--json"))
        assert outcome.code == 0, outcome.err
        assert server.requests == 5 + 1 + 2
        faults = [body["input"][0]["content"].rpartition("could not be used: ")[2] for body in server.bodies]
    told = json.loads(outcome.out)
    assert (told["kept"], told["rejected"]) == (4, {"personal": 1})
    assert "there is no slot for {pl_nothing}; use only those of the lists" in faults
    (reject,) = rejects(tmp_path / "carriers")
    assert (reject["form"], reject["reason"], reject["attempts"]) == ("note", "personal", 3)
    assert "five digits or more in a row: '1234567'" in reject["detail"]
    assert "1234567" in reject["last_reply"]


@pytest.mark.long
def test_trouble_with_the_server_loses_no_carrier(cli, asking, tmp_path):
    faults = dict(enumerate("rate_limit bad_json_reply refusal server_error truncation fenced".split()))
    words = ("--length", "tiny", "--documents", 6)
    with LLMServer(Author(), schedule=lambda number: Fault(kind=faults[number], retry_after=0.05) if number in faults else None) as server:
        outcome = cli(*asking(server, *words, "--concurrency", 2, "--json"))
        assert outcome.code == 0, outcome.err
        assert server.outcomes.keys() >= {"ok", *faults.values()}
    assert json.loads(outcome.out)["kept"] == 6
    assert not (tmp_path / "carriers" / "pl_PL" / "rejects.jsonl").exists()


@pytest.mark.long
def test_what_is_always_refused_is_told_and_kept(cli, asking, tmp_path):
    with LLMServer(Author(), schedule=lambda _: Fault(kind="refusal")) as server:
        outcome = cli(*asking(server, "--length", "tiny", "--documents", 2))
        assert server.requests == 6
    assert outcome.code == 1
    assert "no carrier was usable (refused 2)" in outcome.error_line()
    assert [one["reason"] for one in rejects(tmp_path / "carriers")] == ["refused", "refused"]


@pytest.mark.long
def test_a_copy_is_asked_again_whoever_is_first(cli, asking, tmp_path):
    def same(reply, request):
        if "nearly the same as another document" in request.user:
            return reply
        return reply | {"text": f"Proszę pilnie odpisać w sprawie, kod {{phone}}, {{{kinds_of(request.user)[0]}}}, {{!order_number}}"}

    words = ("--length", "tiny", "--domain", "Media", "--documents", 5)
    with LLMServer(Author(same), latency_s=0.01) as server:
        assert cli(*asking(server, *words, "--concurrency", 4)).code == 0
        first = server.requests
        (tmp_path / "s.duckdb").unlink()
        assert cli(*asking(server, *words, "--concurrency", 1, out="slow")).code == 0
        assert server.requests == 2 * first
        assert cli(*asking(server, *words, out="kept")).code == 0
        assert server.requests == 2 * first
    assert 5 < first < 12
    assert files(tmp_path / "carriers") == files(tmp_path / "slow") == files(tmp_path / "kept")


@pytest.mark.long
def test_ctrl_c_and_a_budget_stop_it_and_nothing_is_paid_twice(cli, asking, tmp_path):
    seen = []

    def struck(reply, request):
        seen.append(request.ordinal)
        if len(seen) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return reply

    words = ("--length", "tiny", "--documents", 8, "--concurrency", 1, "--price", "input=1000,output=1000")
    with LLMServer(Author(struck)) as server:
        outcome = cli(*asking(server, *words))
        assert outcome.code == 1
        assert "Give the same command again: what was paid for is kept" in outcome.err, outcome
        assert not (tmp_path / "carriers").exists()
        before = server.requests
        short = cli(*asking(server, *words, "--budget-usd", 7))
        assert short.code == 1
        assert "Raise --budget-usd" in short.err, short
        assert cli(*asking(server, *words, "--budget-usd", 1000)).code == 0
        assert before <= 4
        assert 8 <= server.requests <= 9  # the one that was on its way may have been asked again


def test_what_is_wrong_is_found_before_anything_is_sent(cli, asking, tmp_path):
    taken = tmp_path / "carriers" / "pl_PL"
    taken.mkdir(parents=True)
    (taken / "it.yaml").write_text(OWN, encoding="utf-8")
    (tmp_path / "file").write_text("")
    before = files(tmp_path)
    with LLMServer(Author()) as server:
        for words, code, says in [
            (("--locale", "xx_XX"), 2, "unknown locale 'xx_XX'"),
            (("--locale", "en_US", "--out", tmp_path / "new"), 2, "unknown locale 'en_US'"),
            (("--domain", "Sport"), 2, "unknown name 'Sport'"),
            (("--length", "huge"), 2, "unknown name 'huge'"),
            (("--provider", "magic", "--out", tmp_path / "new"), 2, "no LLM provider 'magic'"),
            (("--model", "nobodys", "--out", tmp_path / "new"), 2, "the price of the model 'nobodys' is unknown"),
            ((), 1, "there are carriers already"),
            (("--out", "/proc/carriers"), 1, "/proc/carriers"),
            (("--out", tmp_path / "file"), 1, "cannot be written"),
        ]:
            outcome = cli(*asking(server, *words))
            assert (outcome.code, says in outcome.error_line()) == (code, True), outcome
        assert server.requests == 0
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("text", "words", "code", "says"),
    [
        (None, (), 1, "there is no such folder"),
        ("", (), 1, "has no YAML file"),
        (OWN.replace("{email@1}", "{emial@1}"), (), 2, "there is no entity of this locale or of all 'emial'"),
        (OWN.replace("pl_PL", "en_US"), (), 2, "unknown locale 'en_US'"),
        (OWN, ("--domain", "Media"), 2, "there are no carriers of pl_PL for Media"),
        (OWN, ("--length", "long"), 2, "there are no carriers of pl_PL for long"),
        (OWN, ("--locale", "fi_FI"), 2, "there are no carriers for fi_FI"),
    ],
)
def test_folders_of_carriers_that_will_not_do(cli, tmp_path, text, words, code, says):
    folder = tmp_path / "mine"
    if text is not None:
        folder.mkdir()
    if text:
        (folder / "it.yaml").write_text(text, encoding="utf-8")
    outcome = cli("benchmark", "make", "--carriers", folder, "--out", tmp_path / "out", *words)
    assert (outcome.code, says in outcome.error_line()) == (code, True), outcome
    assert not (tmp_path / "out").exists()


def test_an_id_that_is_there_twice_and_shipped_carriers_beside_none(cli, tmp_path):
    (tmp_path / "one.yaml").write_text(OWN, encoding="utf-8")
    (tmp_path / "two.yaml").write_text(OWN, encoding="utf-8")
    outcome = cli("benchmark", "make", "--carriers", tmp_path, "--out", tmp_path / "out")
    assert (outcome.code, "the id 'mine-1' is there already" in outcome.error_line()) == (2, True)
    alone = cli("benchmark", "make", "--with-shipped", "--out", tmp_path / "out")
    assert (alone.code, "Add --carriers DIR" in alone.error_line()) == (2, True)


def test_a_carrier_of_ones_own_is_used(cli, tmp_path):
    (tmp_path / "it.yaml").write_text(OWN, encoding="utf-8")
    words = ("benchmark", "make", "--carriers", tmp_path, "--documents", 2, "--out", tmp_path / "out", "--quiet")
    told = json.loads(cli(*words, "--json").out)
    assert (told["documents"], told["domains"], told["lengths"]) == ({"pl_PL": 2}, {"IT": 2}, {"tiny": 2})
    assert told["entities"] == {"email": 2, "person_name": 2}
    assert told["carriers"]["written_by"] == ["openai some-model"]
    assert json.loads(cli("benchmark", "show", tmp_path / "out", "--json").out)["carriers"] == told["carriers"]
