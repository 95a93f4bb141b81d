"""What ``piiloom utility`` prints: the estimate, and the result as tables or as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from piiloom.cli.run_summary import count_text, dollars
from piiloom.cli.terminal import in_columns, say, say_json
from piiloom.cli.utility_options import UtilityCommand
from piiloom.evaluation.utility.cases import Case
from piiloom.evaluation.utility.estimate import UtilityEstimate
from piiloom.evaluation.utility.evaluating import UtilityResult
from piiloom.evaluation.utility.options import ModelChoice, UtilityOptions
from piiloom.evaluation.utility.tables import pair_table, remarks, variant_table
from piiloom.foundation.words import counted
from piiloom.providers.addresses import public_url

_FREE = "the stand-in asks no model, sends nothing and costs nothing"


def describe(estimate: UtilityEstimate, cases: Sequence[Case], options: UtilityOptions) -> str:
    """Return what would leave this machine, for whom, and what it costs."""
    answers, judgements = estimate.stages[0].calls, estimate.total.calls - estimate.stages[0].calls
    judge = options.judge or options.author
    sent = (
        f"{counted(len(cases), 'context')} with questions and labelled values would leave this machine: {counted(answers, 'request')} for "
        f"answers to {_named(options.author)}, up to {counted(judgements, 'request')} for judgements to {_named(judge)}."
    )
    lines = [sent, _priced(estimate), "Replies that the store holds already are neither asked nor paid for again."]
    return "\n".join(lines)


def say_estimate(estimate: UtilityEstimate | None, cases: Sequence[Case], *, as_json: bool) -> None:
    """Print the estimate; None is that of the stand-in."""
    if as_json:
        say_json(
            {
                "records": len(cases),
                "stand_in": estimate is None,
                **({"stages": [], "total": None} if estimate is None else estimate.to_json()),
            }
        )
        return
    if estimate is None:
        say(_FREE)
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
    say(f"estimate for {counted(len(cases), 'record')}")
    say("\n".join(in_columns([titles, *rows])))
    say(_priced(estimate))
    say("Nothing was sent. Tokens are four bytes each; all answers are taken to differ and to have 150 words; a cached prompt costs less.")


def say_result(result: UtilityResult, title: str, asked: UtilityCommand, files: Sequence[str]) -> None:
    """Print tables and remarks, or all as JSON; *files* were written to the folder."""
    if asked.as_json:
        out = None if asked.out is None else str(asked.out)
        say_json({"source": title, **result.to_json(), "cost": result.cost_json(), "out": out, "files": list(files)})
        return
    say(f"utility of {title}")
    for table in (variant_table(result), pair_table(result)):
        say(f"\n{table.title}\n")
        say("\n".join(in_columns([table.columns, *table.rows])))
    say("")
    for line in remarks(result):
        say(line)
    cost = result.cost_json()
    if cost is not None:
        price = "unknown" if cost["usd"] is None else dollars(cost["usd"])
        say(
            f"cost: {price} for {counted(cost['answered'], 'reply')}, {cost['replayed']:,} more from the store; "
            f"piiloom cost --run {cost['run']} --store {asked.replies}"
        )
    if files:
        say(f"written to {asked.out}: {', '.join(files)}")


def _named(model: ModelChoice) -> str:
    at = f" at {public_url(model.base_url)}" if model.base_url else ""
    return f"{model.provider} {model.name}{at}"


def _priced(estimate: UtilityEstimate) -> str:
    about, most = estimate.total.about_usd, estimate.total.most_usd
    if about is None or most is None:
        return "The price of a model is unknown."
    dated = f"prices as of {estimate.prices_dated}" if estimate.prices_dated else "prices as given"
    return f"Estimated cost: about {dollars(about)}; under {dollars(most)} even if every reply is refused ({dated})."
