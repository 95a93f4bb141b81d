"""Asking: validate, tell the fault, ask again; what rejects the item and what ends the run."""

from __future__ import annotations

import json

import pytest

from piiloom.generation.stage import Fault, ItemRejected, PromptRequest, Wish, ask, text_schema
from piiloom.providers.errors import (
    AuthFailed,
    BudgetExceeded,
    InvalidReply,
    InvalidRequest,
    NotServed,
    ProviderUnavailable,
    RateLimited,
    Refused,
    Truncated,
)
from piiloom.providers.protocol import Completion
from tests.ended_calls import CompletionRow
from tests.generation.scripted_provider import bench, in_turn

QUESTION = PromptRequest(
    stage="question",
    template="question_personal",
    variables={"situation": "I froze.", "draft": "Can I?", "language": "English"},
    schema=text_schema("question"),
    item_id="4",
)
ANSWERED = Completion(text="(as it came)", data=None, model="script-1")


def reply(text):
    return {"question": text}


def short(data):
    """Accept up to three characters."""
    if len(data["question"]) > 3:
        raise Fault("too_long", f"{len(data['question'])} characters")
    return data["question"].upper()


def asked(made, **options):
    return made.do(ask(QUESTION, made.ctx, short, **options))


def rejection(made, **options):
    with pytest.raises(ItemRejected) as caught:
        asked(made, **options)
    return caught.value


def test_the_first_good_reply_is_taken():
    with bench(in_turn(reply("yes"))) as made:
        assert asked(made) == ("YES", 0)
    assert made.faults == [None]
    assert made.replies == {}  # an unpaid reply that was accepted can be had again


def test_the_fault_is_told_in_the_next_call_and_the_refused_are_counted():
    with bench(in_turn(reply("maybe"), reply("perhaps"), reply("no"))) as made:
        assert asked(made) == ("NO", 2)
    assert made.faults == [None, "5 characters", "7 characters"]
    assert [call.attempt for call in made.provider.calls] == [0, 1, 2]
    prompts = ["\n".join(message.content for message in call.render()) for call in made.provider.calls]
    assert "5 characters" not in prompts[0]
    assert "5 characters" in prompts[1]
    assert "7 characters" in prompts[2]


def test_an_item_is_rejected_with_the_last_fault_after_max_attempts():
    with bench(in_turn(reply("maybe"), reply("perhaps"), reply("no")), max_attempts=2) as made:
        error = rejection(made)
    assert (error.code, error.detail, error.stage, error.attempts) == ("too_long", "7 characters", "question", 2)
    assert error.last_reply == '{"question": "perhaps"}'
    row = error.row(plan_index=4)
    assert (row.plan_index, row.stage, row.reason_code, row.attempts) == (4, "question", "too_long", 2)


def test_refused_replies_of_an_unpaid_provider_are_kept():
    with bench(in_turn(reply("maybe"), reply("no"))) as made:
        asked(made)
    (row,) = made.replies.values()
    assert isinstance(row, CompletionRow)
    assert (row.stage, row.item_id, row.attempt, row.verdict, row.fault) == (
        "question",
        "4",
        0,
        "refused_by_validator",
        "too_long: 5 characters",
    )
    assert row.reply == '{"question": "maybe"}'


def test_every_reply_of_a_paid_provider_is_kept_with_its_verdict():
    replies = in_turn(reply("maybe"), Refused("declined", completion=ANSWERED), reply("no"))
    with bench(replies, paid=True) as made:
        assert asked(made) == ("NO", 2)
    assert made.verdicts() == ["refused_by_validator", "error", "accepted"]
    assert made.faults == [None, "5 characters", "declined"]


def test_replies_found_in_the_journal_are_judged_alike_and_not_asked_for_again():
    replies = [reply("maybe"), Refused("declined", completion=ANSWERED), Truncated("cut", completion=ANSWERED)]
    with bench(in_turn(*replies), paid=True) as made:
        first = rejection(made)
    with bench(in_turn(AuthFailed("not to be asked")), paid=True, store=made.store) as again:
        second = rejection(again)
    assert first.row() == second.row()
    assert first.code == "truncated"
    assert again.provider.calls == []
    assert again.ctx.calls.totals.replayed == 3


def test_the_last_attempt_may_be_judged_by_other_measures():
    with bench(in_turn(reply("maybe")), max_attempts=2) as made:
        assert asked(made, last_resort=lambda data: data["question"]) == ("maybe", 1)
    with bench(in_turn(reply("no")), max_attempts=2) as made:
        assert asked(made, last_resort=lambda data: "unused") == ("NO", 0)


def wishing(data):
    """Accept what ``short`` accepts, but wish for a Y in front."""
    if not short(data).startswith("Y"):
        raise Wish("no_y", "it should begin with y", short(data))
    return short(data)


def test_a_wish_is_told_once_and_then_let_be():
    with bench(in_turn(reply("no"), reply("nay"), reply("yes")), paid=True, max_attempts=5) as made:
        assert made.do(ask(QUESTION, made.ctx, wishing)) == ("NAY", 1)
        assert made.faults == [None, "it should begin with y"]
        made.committer.close()
        verdicts = [
            json.loads(entry) for (entry,) in made.store.rows("SELECT entry FROM call_events WHERE kind = 'verdict' ORDER BY rowid")
        ]
    assert verdicts == [
        {"verdict": "refused_by_validator", "fault": "no_y: it should begin with y"},
        {"verdict": "accepted", "fault": None, "unmet": "no_y: it should begin with y"},
    ]


def test_a_wish_never_rejects_an_item():
    with bench(in_turn(reply("much too long"), reply("no")), max_attempts=2) as made:
        assert made.do(ask(QUESTION, made.ctx, wishing)) == ("NO", 1)
    with bench(in_turn(reply("no"), reply("much too long")), paid=True, max_attempts=3) as made:
        assert made.do(ask(QUESTION, made.ctx, wishing)) == ("NO", 2)  # nothing better came
    assert made.verdicts() == ["accepted", "refused_by_validator", "refused_by_validator"]


@pytest.mark.parametrize("kind", [ProviderUnavailable, RateLimited, InvalidRequest])
def test_a_usable_reply_in_hand_is_taken_if_the_next_call_fails(kind):
    with bench(in_turn(reply("no"), kind("down")), paid=True, max_attempts=3) as made:
        assert made.do(ask(QUESTION, made.ctx, wishing)) == ("NO", 0)
    assert made.verdicts() == ["accepted", "error"]  # the call that failed
    with bench(in_turn(reply("much too long"), reply("no"), kind("down")), paid=True, max_attempts=4) as made:
        assert made.do(ask(QUESTION, made.ctx, wishing)) == ("NO", 1)


def test_a_usable_reply_in_hand_does_not_keep_a_run_alive_that_must_end():
    with bench(in_turn(reply("no"), AuthFailed("no key")), max_attempts=3) as made, pytest.raises(AuthFailed):
        made.do(ask(QUESTION, made.ctx, wishing))


def test_the_last_resort_may_refuse_too():
    def never(data):
        raise Fault("hopeless", "nothing helps")

    with bench(in_turn(reply("maybe")), max_attempts=2) as made:
        assert rejection(made, last_resort=never).code == "hopeless"


@pytest.mark.parametrize(("kind", "code"), [(Refused, "refused"), (Truncated, "truncated"), (InvalidReply, "invalid_reply")], ids=str)
def test_an_unusable_reply_is_a_fault_like_others(kind, code):
    with bench(in_turn(kind("what was wrong", completion=ANSWERED), reply("no"))) as made:
        assert asked(made) == ("NO", 1)
        assert made.faults == [None, "what was wrong"]
    with bench(in_turn(kind("what was wrong", completion=ANSWERED)), max_attempts=3) as made:
        error = rejection(made)
    assert (error.code, error.attempts, error.last_reply) == (code, 3, "(as it came)")


def test_a_reply_of_the_wrong_shape_is_an_invalid_reply():
    with bench(in_turn({"answer": "no"}), max_attempts=1) as made:
        assert rejection(made).code == "invalid_reply"


@pytest.mark.parametrize("kind", [AuthFailed, BudgetExceeded, NotServed])
@pytest.mark.parametrize("before", [[], [reply("no")]], ids=["at first", "later"])
def test_no_key_and_no_money_end_the_run_at_any_time(kind, before):
    with bench(in_turn(*before, kind("none left"))) as made:
        for _ in before:
            asked(made)
        with pytest.raises(kind):
            asked(made)
    assert len(made.provider.calls) == len(before) + 1


@pytest.mark.parametrize(("kind", "code"), [(ProviderUnavailable, "provider_unavailable"), (RateLimited, "rate_limited")])
def test_an_endpoint_that_never_answered_ends_the_run_one_that_did_rejects_the_item(kind, code):
    with bench(in_turn(kind("not now"))) as made, pytest.raises(kind):
        asked(made)
    with bench(in_turn(reply("no"), kind("not now"))) as made:
        asked(made)
        lost = rejection(made)
    assert (lost.code, lost.attempts) == (code, 1)


def test_an_unusable_reply_shows_that_the_endpoint_answers():
    with bench(in_turn(Refused("declined", completion=ANSWERED), ProviderUnavailable("down")), paid=True) as made:
        assert rejection(made).code == "provider_unavailable"


def test_three_invalid_requests_before_any_answer_end_the_run():
    with bench(in_turn(InvalidRequest("no such model"))) as made:
        assert rejection(made).code == "invalid_request"
        assert rejection(made).code == "invalid_request"
        with pytest.raises(InvalidRequest):
            asked(made)


def test_invalid_requests_among_answers_reject_items_only():
    with bench(in_turn(InvalidRequest("refused as such"), InvalidRequest("this one too"), reply("no"), InvalidRequest("again"))) as made:
        assert [rejection(made).code for _ in range(2)] == ["invalid_request"] * 2
        assert asked(made) == ("NO", 0)
        assert [rejection(made).code for _ in range(5)] == ["invalid_request"] * 5


@pytest.mark.parametrize(("concurrency", "failures"), [(1, 20), (16, 32)])
def test_an_endpoint_that_dies_for_good_ends_the_run(concurrency, failures):
    with bench(in_turn(reply("no"), ProviderUnavailable("down")), concurrency=concurrency) as made:
        asked(made)
        for _ in range(failures - 1):
            assert rejection(made).code == "provider_unavailable"
        with pytest.raises(ProviderUnavailable):
            asked(made)


def test_an_answer_in_between_shows_that_it_is_alive():
    down = ProviderUnavailable("down")
    with bench(in_turn(reply("no"), *[down] * 19, reply("no"), *[down] * 19, reply("no")), concurrency=1) as made:
        outcomes = []
        for _ in range(41):
            try:
                outcomes.append(asked(made)[0])
            except ItemRejected as error:
                outcomes.append(error.code)
    assert outcomes.count("NO") == 3
    assert outcomes.count("provider_unavailable") == 38
