"""``piiloom utility``: the cost of masking and surrogates in the quality of answers."""

from __future__ import annotations

from collections.abc import Sequence

from piiloom.cli.options import json_setting, say_sight
from piiloom.cli.progress import asking
from piiloom.cli.terminal import agree_to_send, cost_line, count_text, dollars, examples, in_columns, say_result
from piiloom.evaluation.utility.asking import UtilityEstimate, estimate_utility
from piiloom.evaluation.utility.evaluating import UtilityResult, judge_utility, read_cases
from piiloom.evaluation.utility.files import remarks, utility_tables, write_result
from piiloom.evaluation.utility.options import OFFLINE, ModelChoice, UtilityCase, UtilitySettings
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import setting
from piiloom.foundation.words import counted
from piiloom.providers.addresses import public_url

UTILITY_EXAMPLES = examples(
    "piiloom utility outputs/v1/test.jsonl",
    "piiloom utility v1 --split test --provider openai --estimate",
    "piiloom utility v1 --split test --provider openai --budget-usd 2 --out outputs/v1-utility",
    "piiloom utility published.jsonl --input-format capid --provider openai --judge-provider anthropic --limit 200",
    "piiloom utility v1 --split test --provider openai --second-judge-provider anthropic --variants relevance_aware,all_masked",
    "piiloom utility test.jsonl --variants original,relevance_aware --json",
)

_FREE = "the stand-in asks no model, sends nothing and costs nothing"
_BASIS = "Nothing was sent. Tokens are four bytes each; all answers are taken to differ and to have 75 words; a cached prompt costs less."


class Utility(UtilitySettings):
    """The command line of ``piiloom utility``."""

    source: str = setting(..., "A file of records, or the name of a release of the --store.", argument=True, metavar="RELEASE|FILE")
    estimate: bool = setting(False, "Estimate the requests and their cost; send and store nothing, no key needed.")
    as_json: bool = json_setting()


@takes(Utility)
def utility(asked: Utility) -> None:
    """Compare answers to each record's question from its original, masked and surrogate contexts, and their disclosure.

    One model answers from every variant in about three sentences. A judge compares the answers pair by pair, in both orders, and grades
    their completeness and the irrelevant personal data that they give away; a second judge may compare the pairs, too. Without a
    provider, a rule stands in, and is labelled so.
    docs/utility.md explains the figures.
    """
    read = read_cases(asked.source, asked, tell=say_sight)
    cases = read.cases
    if asked.estimate:
        _say_estimate(None if asked.provider == OFFLINE else estimate_utility(cases, asked), cases, as_json=asked.as_json)
        return

    def agree() -> None:
        agree_to_send(_describe(estimate_utility(cases, asked), cases, asked), yes=asked.yes)

    with asking(asked.replies) as watch:
        result = judge_utility(read, asked, watch=watch, agree=agree)
    files = () if asked.out is None else write_result(asked.out, result, read.title)
    _say_result(result, read.title, asked, files)


def _describe(estimate: UtilityEstimate, cases: Sequence[UtilityCase], options: UtilitySettings) -> str:
    """Return the data that would leave this machine, the receivers, and the cost."""
    answers, judgements = estimate.stages[0].calls, estimate.total.calls - estimate.stages[0].calls
    judges = " and ".join(_named(one) for one in (options.judge or options.author, options.second_judge) if one is not None)
    sent = (
        f"{counted(len(cases), 'context')} with questions and labelled values would leave this machine: {counted(answers, 'request')} for "
        f"answers to {_named(options.author)}, up to {counted(judgements, 'request')} for judgements to {judges}."
    )
    lines = [sent, _priced(estimate), "Replies that the store holds already are neither asked nor paid for again."]
    return "\n".join(lines)


def _say_estimate(estimate: UtilityEstimate | None, cases: Sequence[UtilityCase], *, as_json: bool) -> None:
    """Print the estimate; None is that of the stand-in."""
    figures = {"stages": [], "total": None} if estimate is None else estimate.to_json()
    data = {"records": len(cases), "stand_in": estimate is None, **figures}
    if estimate is None:
        say_result(data, _FREE, as_json=as_json)
        return
    titles = ["stage", "calls", "tokens in", "tokens out", "about", "at most"]
    rows = [
        [
            stage.stage,
            f"{stage.calls:,}",
            count_text(stage.input_tokens),
            count_text(stage.output_tokens),
            *("unknown" if amount is None else dollars(amount) for amount in (stage.about_usd, stage.most_usd)),
        ]
        for stage in (*estimate.stages, estimate.total)
    ]
    told = f"estimate for {counted(len(cases), 'record')}"
    say_result(data, told, *in_columns([titles, *rows]), _priced(estimate), _BASIS, as_json=as_json)


def _say_result(result: UtilityResult, title: str, asked: Utility, files: Sequence[str]) -> None:
    """Print tables and remarks, or all as JSON; *files* were written to the folder."""
    out, cost = None if asked.out is None else str(asked.out), result.cost_json()
    lines = [f"utility of {title}"]
    for table in utility_tables(result):
        lines += [f"\n{table.title}\n", *in_columns([table.columns, *table.rows])]
    lines += ["", *remarks(result)]
    if cost is not None:
        lines.append(cost_line(cost["usd"], cost["answered"], cost["replayed"], run=cost["run"], store=asked.replies))
    written = f"written to {asked.out}: {', '.join(files)}" if files else None
    say_result(
        {"source": title, **result.to_json(), "cost": cost, "out": out, "files": list(files)}, *lines, written, as_json=asked.as_json
    )


def _named(model: ModelChoice) -> str:
    at = f" at {public_url(model.base_url)}" if model.base_url else ""
    return f"{model.provider} {model.name}{at}"


def _priced(estimate: UtilityEstimate) -> str:
    about, most = estimate.total.about_usd, estimate.total.most_usd
    if about is None or most is None:
        return "The price of a model is unknown."
    dated = f"prices as of {estimate.prices_dated}" if estimate.prices_dated else "prices as given"
    return f"Estimated cost: about {dollars(about)}; under {dollars(most)} even if every reply is refused ({dated})."
