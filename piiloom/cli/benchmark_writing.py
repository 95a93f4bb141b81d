"""The work behind ``piiloom benchmark write``."""

from __future__ import annotations

from collections import Counter

from piiloom.cli.asking_line import asking
from piiloom.cli.benchmark_write_options import WriteCommand
from piiloom.cli.benchmarking import options_of
from piiloom.cli.run_summary import dollars
from piiloom.cli.settings_from import settings_of
from piiloom.cli.terminal import say, say_json
from piiloom.detection.asking.model_settings import ModelSettings
from piiloom.detection.benchmark.carrier_files import check_place, write_files
from piiloom.detection.benchmark.carrier_writing import WritingOptions, Written, write_carriers
from piiloom.execution.calls import Lost
from piiloom.foundation.errors import DataError
from piiloom.foundation.words import counted


def write_and_report(asked: WriteCommand) -> None:
    """Have carriers written, write their files and say what came of it; what is wrong with the request is found before anything is sent."""
    options = _options(asked)
    check_place(asked.out, options.locales, force=asked.force)
    with asking(asked.store) as watch:
        written = write_carriers(options, watch=watch)
    files = [str(path.relative_to(asked.out)) for path in write_files(asked.out, options, written)]
    rejected = Counter(one.result.code for one in written.outcomes if isinstance(one.result, Lost))
    kept = len(written.outcomes) - rejected.total()
    if not kept:
        reasons = ", ".join(f"{code} {count}" for code, count in rejected.most_common())
        raise DataError(f"no carrier was usable ({reasons})", where=str(asked.out), remedy="rejects.jsonl has the last reply to each")
    if asked.as_json:
        _say_json(asked, written, kept, rejected, files)
    else:
        _say(asked, written, kept, rejected, files)


def _options(asked: WriteCommand) -> WritingOptions:
    named = options_of(asked.locale, asked.domain or [], asked.length or [], None, [], asked.seed)
    model = settings_of(ModelSettings, asked)
    model.spec()
    return WritingOptions(model=model, locales=named.locales, documents=asked.documents, domains=named.domains, lengths=named.lengths)


def _say(asked: WriteCommand, written: Written, kept: int, rejected: Counter[str], files: list[str]) -> None:
    say(f"{counted(kept, 'carrier')} written by {' '.join(written.author)}, with {written.template[0]}; no native speaker has checked them")
    if rejected:
        reasons = ", ".join(f"{code} {count:,}" for code, count in rejected.most_common())
        say(f"{rejected.total():,} rejected ({reasons}): rejects.jsonl has the last reply to each")
    totals = written.totals
    price = "unknown" if totals.unpriced else dollars(totals.spent_usd)
    say(
        f"cost: {price} for {counted(totals.answered, 'reply')}, {totals.replayed:,} more from the store; "
        f"piiloom cost --run {written.run_id} --store {asked.store}"
    )
    for name in files:
        say(str(asked.out / name))
    say(f"next: piiloom benchmark make --carriers {asked.out} --out DIR")


def _say_json(asked: WriteCommand, written: Written, kept: int, rejected: Counter[str], files: list[str]) -> None:
    totals = written.totals
    say_json(
        {
            "out": str(asked.out),
            "provider": written.author[0],
            "model": written.author[1],
            "template": written.template[0],
            "kept": kept,
            "rejected": dict(sorted(rejected.items())),
            "cost": {
                "run": written.run_id,
                "usd": None if totals.unpriced else totals.spent_usd,
                "answered": totals.answered,
                "replayed": totals.replayed,
            },
            "files": files,
        }
    )
