"""A run of surrogates as options describe it: everything that ``piiloom surrogate run`` does but the printing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from piiloom.cli.options import COST_OF_SEEDS
from piiloom.cli.surrogate_checks import (
    PlaceholderKeys,
    check_language,
    check_places,
    checked_locale,
    miss_rates,
    warning_of_language,
    worker_count,
)
from piiloom.cli.surrogate_options import InputOptions, RunOptions
from piiloom.cli.surrogate_values import values_by_model
from piiloom.foundation.errors import UsageError
from piiloom.foundation.noop import noop
from piiloom.surrogates.engine_factory import EngineFactory
from piiloom.surrogates.inputs.json_rows import SPANS
from piiloom.surrogates.inputs.parts import InputSettings, KeptRows
from piiloom.surrogates.inputs.reading import iter_documents
from piiloom.surrogates.outputs.folder import KeyFile, remove_old_keys
from piiloom.surrogates.persona_assignment.groups import Weights
from piiloom.surrogates.placeholders.finder import KeptScans
from piiloom.surrogates.placeholders.mapping import Mapping as TagMapping
from piiloom.surrogates.placeholders.mapping import language_caution, load_mapping, surrogate_cautions
from piiloom.surrogates.placeholders.reading import linked
from piiloom.surrogates.placeholders.survey import Survey, survey_of
from piiloom.surrogates.progress import Progress, RunReport
from piiloom.surrogates.running import run_surrogates
from piiloom.surrogates.settings import Settings

if TYPE_CHECKING:
    from piiloom.surrogates.by_model.drawing import AskProgress

_SURVEYED: Final = 64 * 2**20  # code points that "auto" learns from; tags beyond are still read by the vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    """Who follows a run. ``tell`` is given warnings before the work begins.

    ``agree`` is told what would leave this machine for a model, and says whether it may; None: nobody is there to agree.
    ``asking`` and ``running`` open a view of the progress of either.
    """

    agree: Callable[[str], bool] | None = None
    tell: Callable[[str], object] = noop
    asking: Callable[[], AbstractContextManager[Callable[[AskProgress], None]]] = lambda: nullcontext(noop)
    running: Callable[[], AbstractContextManager[Callable[[Progress], None]]] = lambda: nullcontext(noop)


def input_settings(options: InputOptions) -> InputSettings:
    """*options* as ``surrogates`` takes them; raises ``UsageError`` for what cannot be."""
    use_spans = options.spans or bool(options.spans_field)
    return InputSettings(
        path=options.source,
        format=options.file_format,
        text_fields=tuple(options.text_field or ()),
        id_field=options.id_field,
        encoding=options.encoding,
        question_field=options.question_field,
        header=options.header,
        delimiter={"\\t": "\t", "tab": "\t"}.get(options.delimiter or "", options.delimiter),
        spans_field=options.spans_field or (SPANS if use_spans else None),  # asked for, so that [] means: nothing to replace
        use_spans=use_spans,
        kind_of=_kind_of_span() if use_spans else None,
        quoting=options.quoting,
        max_unpacked=options.max_unpacked * 2**20,
        skip_bad_rows=options.skip_bad_rows,
    )


def _kind_of_span() -> Callable[[str, str | None], str]:
    from piiloom.surrogates.placeholders.span_kinds import kind_of_span  # noqa: PLC0415 - most runs take no spans

    return kind_of_span


def run_corpus(input_options: InputOptions, options: RunOptions, observer: Observer) -> RunReport:
    """Run as the options of the command say; all that can be known to be wrong is found before the work."""
    settings, inputs = _settings(options), input_settings(input_options)
    _check_together(options, inputs)
    check_language(settings.locale, needed=options.placeholders == options.language_words == "auto" and not inputs.use_spans)
    count, rates = worker_count(options.workers, inputs.path), miss_rates(options.leakage, "--leakage")
    check_places(options.out, inputs.path, options.vault, force=options.force)
    scans, rows = (KeptScans(), KeptRows()) if count == 1 else (None, None)
    mapping = None if inputs.use_spans else tag_mapping(options.placeholders, inputs, settings.locale, scans, rows)
    if options.link:
        if mapping is None:
            raise UsageError("links are of placeholders, and --spans replaces none", where="--link", remedy="Leave --link out.")
        mapping = linked(mapping, options.link)
    if mapping is not None:
        inputs = replace(inputs, look_at_key=PlaceholderKeys(mapping))
    if (warning := warning_of_language(settings.locale)) is not None:
        observer.tell(warning)
    if options.vault is not None:
        observer.tell(f"{options.vault} will hold what was redacted, where it is known; keep it apart from the corpus")
    placeholders = "auto" if options.placeholders == "auto" else Path(options.placeholders).name
    about = {"placeholders": "spans" if mapping is None else placeholders, **settings.to_json()}
    with ExitStack() as stack:
        if options.seed is None:
            key_file = stack.enter_context(KeyFile(options.out, keep=options.values == "llm"))  # replies were paid for
            settings, forget = replace(settings, key=key_file.key), key_file.remove
        else:
            observer.tell(COST_OF_SEEDS)
            forget = partial(remove_old_keys, options.out)
        factory = EngineFactory(
            settings=settings, mapping=mapping, on_unknown=options.on_unknown, scan=options.scan, miss_rates=rates, scans=scans
        )
        by_model = values_by_model(options, inputs, factory, agree=observer.agree, asking=observer.asking)
        working, drawn = stack.enter_context(by_model)
        progress = stack.enter_context(observer.running())

        def complete(folder: Path) -> None:
            if drawn is not None:
                drawn.put_rejects(folder)
            forget()

        return run_surrogates(
            inputs,
            options.out,
            working,
            locale=settings.locale,
            workers=count,
            progress=progress,
            force=options.force,
            vault=options.vault,
            key=settings.key,
            about=about,
            cautions=None if mapping is None else partial(surrogate_cautions, mapping=mapping),
            add_files=complete,
            rows=rows,
        )


def _check_together(options: RunOptions, inputs: InputSettings) -> None:
    """Raise ``UsageError`` for options of which another one makes no use."""
    if options.weights and options.groups != "weights":
        raise UsageError("weights are used with --groups weights only", where="--weights", remedy="Add --groups weights.")
    if options.same_value != "document" and not inputs.use_spans:
        raise UsageError("the values of placeholders are not known", where="--same-value", remedy="Add --spans, or leave it out.")


def tag_mapping(
    placeholders: str, inputs: InputSettings, locale: str, scans: KeptScans | None = None, rows: KeptRows | None = None
) -> TagMapping:
    """The mapping that *placeholders* asks for: "auto", or a file's. *locale* is that of the texts.

    What is scanned goes into *scans*, the rows that are read into *rows*.
    """
    if placeholders != "auto":
        return load_mapping(Path(placeholders))
    return learnt_mapping(inputs, locale, limit=_SURVEYED, scans=scans, rows=rows)[1]


def learnt_mapping(
    inputs: InputSettings, locale: str | None, *, limit: int | None, scans: KeptScans | None = None, rows: KeptRows | None = None
) -> tuple[Survey, TagMapping]:
    """Learn the placeholders of the documents, at most about *limit* code points of them, and with which cautions to use them.

    *locale* is that of the texts, None if their owner does not say.
    """
    survey = survey_of(_texts(inputs, limit, rows), (locale or "")[:2], scans)
    mapping = survey.mapping()
    caution = language_caution(locale, survey.ranking.told) if locale else ""
    return survey, replace(mapping, cautions=(*filter(None, [caution]), *mapping.cautions))


def _texts(inputs: InputSettings, limit: int | None, rows: KeptRows | None) -> Iterator[str]:
    """Yield the texts of the documents, at most about *limit* code points."""
    seen = 0
    for document in iter_documents(inputs, rows):
        yield document.text
        seen += len(document.text)
        if limit is not None and seen > limit:
            return


def _settings(options: RunOptions) -> Settings:
    return Settings(
        seed=options.seed,
        locale=checked_locale(options.locale),
        scope=options.scope,
        strategy=options.strategy,
        keep=options.keep,
        balance=options.groups,
        weights=Weights.parse(options.weights),
        english_only=options.english_only,
        script=options.script,
        names=str(options.names) if options.names else None,
        keep_weekdays=options.keep_weekdays,
        same_value=options.same_value,
        person_groups=options.person_groups,
    )
