"""The work behind ``piiloom utility``: read the records, ask or estimate, write and print."""

from __future__ import annotations

from pathlib import Path

from piiloom.cli.agreeing import agree_to_send
from piiloom.cli.asking_line import asking
from piiloom.cli.reading import say_sight
from piiloom.cli.utility_options import UtilityCommand
from piiloom.cli.utility_view import describe, say_estimate, say_result
from piiloom.corpus.record import Record
from piiloom.evaluation.report.sources import Corpus, corpus_of_file, corpus_of_release
from piiloom.evaluation.utility.cases import Case, checked_variants
from piiloom.evaluation.utility.estimate import estimate_utility
from piiloom.evaluation.utility.evaluating import UtilityResult, judged_by_models, judged_by_rule, prepared
from piiloom.evaluation.utility.files import write_result
from piiloom.evaluation.utility.options import OFFLINE, ModelChoice, UtilityOptions
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.whole_files import check_folder
from piiloom.taxonomy.own_types_file import read_types_file

_REFUSED = "a row that is no record"


def utility_and_report(asked: UtilityCommand) -> None:
    """Evaluate and print; what is wrong with the request is found before anything is sent."""
    variants = checked_variants([name.strip() for name in asked.variants.split(",") if name.strip()])
    options = _options(asked, variants)
    if asked.out is not None:
        check_folder(asked.out, force=asked.force)
    corpus = _corpus(asked)
    records = _sample(corpus, asked)
    cases, left_out = prepared(records, corpus.taxonomy, variants)
    reading = corpus.source.reading
    if reading is not None and reading.refused:
        left_out[_REFUSED] = reading.refused
    title = corpus.source.title()
    if asked.estimate:
        say_estimate(None if options is None else estimate_utility(cases, options), cases, as_json=asked.as_json)
        return
    result = judged_by_rule(cases, left_out, variants, seed=asked.seed) if options is None else _judged(asked, options, cases, left_out)
    files = () if asked.out is None else write_result(asked.out, result, title)
    say_result(result, title, asked, files)


def _options(asked: UtilityCommand, variants: tuple[str, ...]) -> UtilityOptions | None:
    """Return the options for models; None where none is to be asked."""
    apart = asked.judge_provider is not None or asked.judge_model is not None
    if asked.provider == OFFLINE:
        if apart or asked.model or asked.base_url:
            raise UsageError(
                "no model is asked offline", where="--provider", remedy="Name openai, anthropic or compatible, or leave it out"
            )
        return None
    author = ModelChoice(provider=asked.provider, model=asked.model, base_url=asked.base_url, price=asked.price)
    judge = None
    if apart:
        same = asked.judge_provider in {None, asked.provider}
        url = asked.judge_base_url or (asked.base_url if same else None)
        judge = ModelChoice(provider=asked.judge_provider or asked.provider, model=asked.judge_model, base_url=url, price=asked.judge_price)
    elif asked.judge_base_url or asked.judge_price:
        raise UsageError(
            "no separate judge is named", where="--judge-base-url, --judge-price", remedy="Add --judge-model or --judge-provider"
        )
    for model in (author, judge):
        if model is not None:
            model.spec()
    return UtilityOptions(
        author=author,
        judge=judge,
        variants=variants,
        seed=asked.seed,
        concurrency=asked.concurrency,
        rpm=asked.rpm,
        tpm=asked.tpm,
        budget_usd=asked.budget_usd,
        unpriced=asked.unpriced,
        timeout_s=asked.timeout_s,
        attempts=asked.attempts,
        prompts=asked.prompts,
    )


def _corpus(asked: UtilityCommand) -> Corpus:
    path = Path(asked.source)
    if path.exists():
        if asked.split is not None:
            raise UsageError("a file has no splits", where="--split", remedy="Name a release, or the file of the split")
        return corpus_of_file(path, asked.file_format, None if asked.types is None else read_types_file(asked.types))
    if path.suffix or len(path.parts) > 1:
        raise DataError("there is no such file", where=asked.source, remedy="Check the path, or give the name of a release")
    if asked.file_format is not None or asked.types is not None:
        raise UsageError("a release knows its format and types", where="--format, --types", remedy="Leave them out, or name a file")
    return corpus_of_release(asked.store, asked.source, tell=say_sight)


def _sample(corpus: Corpus, asked: UtilityCommand) -> list[Record]:
    """Return the records that are wanted, in the order of the source."""
    if asked.split is not None and asked.split not in corpus.splits:
        raise UsageError(f"there is no split {asked.split!r}", where="--split", remedy=f"It has: {', '.join(corpus.splits)}")
    records = [one for name, split in corpus.splits.items() if asked.split in (None, name) for one in split]
    if asked.limit is None or asked.limit >= len(records):
        return records
    chosen = derive_rng("utility", "sample", asked.seed).sample(range(len(records)), asked.limit)
    return [records[number] for number in sorted(chosen)]


def _judged(asked: UtilityCommand, options: UtilityOptions, cases: list[Case], left_out: dict[str, int]) -> UtilityResult:
    def agree() -> None:
        agree_to_send(describe(estimate_utility(cases, options), cases, options), yes=asked.yes)

    with asking(asked.replies) as watch:
        return judged_by_models(cases, left_out, options, store=asked.replies, watch=watch, agree=agree)
