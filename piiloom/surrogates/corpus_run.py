"""Run surrogates over a corpus as options describe it: check them, get the mapping, draw values by a model, replace."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import COST_OF_SEEDS
from piiloom.foundation.whole_files import scratch_folder
from piiloom.surrogates.engine import EngineFactory
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.inputs.reading import KeptRows, iter_documents
from piiloom.surrogates.kinds.places import languages
from piiloom.surrogates.outputs.folder import RunFolder, VaultFile, remove_old_keys, run_key
from piiloom.surrogates.persona_assignment.groups import Weights
from piiloom.surrogates.placeholders.finder import KeptScans, PlaceholderKeys
from piiloom.surrogates.placeholders.mapping import Mapping, language_caution, load_mapping, surrogate_cautions
from piiloom.surrogates.placeholders.reading import linked
from piiloom.surrogates.placeholders.survey import Survey, survey_of
from piiloom.surrogates.running import RunReport, SurrogateProgress, run_surrogates
from piiloom.surrogates.settings import EngineSettings, checked_locale

if TYPE_CHECKING:
    from piiloom.surrogates.by_model.drawing import Drawn, DrawProgress
    from piiloom.surrogates.options import SurrogateOptions

_SURVEYED: Final = 64 * 2**20  # code points that "auto" learns from; tags beyond are still read by the vocabulary
# Two processes start in about a second, and read and plan everything twice, which one process does not: below this they lose time.
_BYTES_PER_WORKER: Final = 8 * 2**20
_PACKED: Final = 4  # how many times its size a compressed file holds
_PACKED_FORMATS: Final = frozenset({".zip", ".parquet", ".pq", ".docx"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    """Callbacks of a run. ``tell`` is called with warnings before the work begins.

    ``agree`` is called with a description of the data that a model would get, and returns whether it may be sent; None: nobody can agree.
    ``asking`` and ``running`` open a view of the progress of either.
    """

    agree: Callable[[str], bool] | None = None
    tell: Callable[[str], object] = noop
    asking: Callable[[], AbstractContextManager[Callable[[DrawProgress], None]]] = lambda: nullcontext(noop)
    running: Callable[[], AbstractContextManager[Callable[[SurrogateProgress], None]]] = lambda: nullcontext(noop)


def run_corpus(source: Path, out: Path, options: SurrogateOptions, observer: Observer) -> RunReport:
    """Put surrogates into the corpus *source* and write the folder *out*. All that can be wrong beforehand is found before the work.

    Raises ``UsageError``, ``DataError``, ``OutputError`` and errors of providers; no partial output stays behind.
    """
    settings, inputs = _engine_settings(options), SourceSettings.of(source, options, options)
    _check_together(options, inputs)
    by_auto = options.placeholders == "auto"
    warning = _warning_of_language(settings.language)
    if warning and by_auto and options.language_words == "auto" and not inputs.use_spans:
        remedy = "Give a mapping with --placeholders (piiloom surrogate survey writes one), or --language-words none."
        raise UsageError(warning, where="--locale", remedy=remedy)
    count = worker_count(options, source)
    _check_places(out, source, options.vault, force=options.force)
    scans, rows = (KeptScans(), KeptRows()) if count == 1 and not options.ray else (None, None)
    mapping = _mapping_of(options, inputs, settings.locale, scans, rows)
    if mapping is not None:
        inputs = replace(inputs, look_at_key=PlaceholderKeys(mapping))
    if warning:
        observer.tell(warning)
    if options.vault is not None:
        observer.tell(f"{options.vault} will hold what was redacted, where it is known; keep it apart from the corpus")
    placeholders = "spans" if mapping is None else "auto" if by_auto else Path(options.placeholders).name
    with ExitStack() as stack:
        if options.seed is None:
            key, forget = stack.enter_context(run_key(out, keep=options.values == "llm"))  # replies were paid for
            settings = replace(settings, key=key)
        else:
            observer.tell(COST_OF_SEEDS)
            forget = partial(remove_old_keys, out)
        factory = EngineFactory(
            settings=settings,
            mapping=mapping,
            on_unknown=options.on_unknown,
            scan=options.scan,
            miss_rates=options.leakage,
            scans=scans,
        )
        factory, drawn = stack.enter_context(_values_by_model(out, options, inputs, factory, observer))
        progress = stack.enter_context(observer.running())

        def complete(folder: Path) -> None:
            if drawn is not None:
                drawn.put_rejects(folder)
            forget()

        return run_surrogates(
            inputs,
            out,
            factory,
            locale=settings.locale,
            workers=count,
            ray=options.ray,
            ray_address=options.ray_address,
            progress=progress,
            force=options.force,
            vault=options.vault,
            key=settings.key,
            about={"placeholders": placeholders, **settings.to_json()},
            cautions=None if mapping is None else partial(surrogate_cautions, mapping=mapping),
            add_files=complete,
            rows=rows,
        )


def _mapping_of(
    options: SurrogateOptions, inputs: SourceSettings, locale: str, scans: KeptScans | None, rows: KeptRows | None
) -> Mapping | None:
    """Return the mapping of the tags, with the links that are asked for; None if spans are replaced."""
    mapping = None if inputs.use_spans else tag_mapping(options.placeholders, inputs, locale, scans, rows)
    if not options.link:
        return mapping
    if mapping is None:
        raise UsageError("links are of placeholders, and --spans replaces none", where="--link", remedy="Leave --link out.")
    return linked(mapping, options.link)


def _engine_settings(options: SurrogateOptions) -> EngineSettings:
    return EngineSettings(
        seed=options.seed,
        locale=checked_locale(options.locale),
        scope=options.scope,
        strategy=options.strategy,
        keep=options.keep_probability,
        balance=options.groups,
        weights=Weights.parse(options.weights),
        english_only=options.english_only,
        script=options.script,
        names=str(options.names_index) if options.names_index else None,
        keep_weekdays=options.keep_weekdays,
        same_value=options.same_value,
        person_groups=options.person_groups,
        groups_by=options.groups_by,
    )


def _check_together(options: SurrogateOptions, inputs: SourceSettings) -> None:
    """Raise ``UsageError`` for options of which another one makes no use."""
    if options.weights and options.groups != "weights":
        raise UsageError("weights are used with --groups weights only", where="--weights", remedy="Add --groups weights.")
    if options.groups_by == "document" and options.scope == "corpus":
        remedy = "Use --scope document."
        raise UsageError("people of all documents cannot have the group of one", where="--groups-by document", remedy=remedy)
    if options.same_value != "document" and not inputs.use_spans:
        raise UsageError("the values of placeholders are not known", where="--same-value", remedy="Add --spans, or leave it out.")
    if options.ray_address and not options.ray:
        raise UsageError("an address is used with --ray only", where="--ray-address", remedy="Add --ray.")


def _warning_of_language(language: str) -> str:
    """Return a warning if *language* has no words of ours, else ""; its dates or names of organisations come in English."""
    known = languages()
    if language in known:
        return ""
    return f"no words are known in {language!r}: organisations, occupations and the like come in English (known: {', '.join(known)})"


def _check_places(out: Path, source: Path, vault: Path | None, *, force: bool) -> None:
    """Raise now the errors that the run would raise at its start: *out* or *vault* may not be written there. Leaves nothing."""
    with ExitStack() as stack:
        stack.enter_context(RunFolder(out, source, force=force))
        if vault is not None:
            try:
                stack.enter_context(VaultFile(vault, out, source))
            except OutputError as error:
                why = getattr(error.__cause__, "strerror", None) or "no reason given"
                remedy = "Make its folder first, or name another file with --vault"
                raise OutputError(f"the vault cannot be written ({why})", where=str(vault), remedy=remedy) from error


def worker_count(options: SurrogateOptions, source: Path) -> int | None:
    """Return the number of workers; None: one for each CPU of a Ray cluster.

    "auto" is one for every 8 MB of *source*, and as many as this process may use.
    """
    if options.workers != "auto":
        return options.workers
    if options.ray:
        return None
    files = [source] if source.is_file() else [path for path in source.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size * (_PACKED if path.suffix.lower() in _PACKED_FORMATS else 1) for path in files)
    return max(1, min(size // _BYTES_PER_WORKER, len(os.sched_getaffinity(0))))


def tag_mapping(
    placeholders: str, inputs: SourceSettings, locale: str, scans: KeptScans | None = None, rows: KeptRows | None = None
) -> Mapping:
    """Return the mapping that *placeholders* names: "auto", or a file. *locale* is that of the texts.

    Scans of texts are kept in *scans*, the rows that are read in *rows*.
    """
    if placeholders != "auto":
        return load_mapping(Path(placeholders))
    return learnt_mapping(inputs, locale, limit=_SURVEYED, scans=scans, rows=rows)[1]


def learnt_mapping(
    inputs: SourceSettings, locale: str | None, *, limit: int | None, scans: KeptScans | None = None, rows: KeptRows | None = None
) -> tuple[Survey, Mapping]:
    """Learn the placeholders of the documents, at most about *limit* code points of them, and with which cautions to use them.

    *locale* is that of the texts, None if it is not given.
    """
    survey = survey_of(_texts(inputs, limit, rows), (locale or "")[:2], scans)
    mapping = survey.mapping()
    caution = language_caution(locale, survey.ranking.told) if locale else ""
    return survey, replace(mapping, cautions=(*filter(None, [caution]), *mapping.cautions))


def _texts(inputs: SourceSettings, limit: int | None, rows: KeptRows | None) -> Iterator[str]:
    """Yield the texts of the documents, at most about *limit* code points."""
    seen = 0
    for document in iter_documents(inputs, rows):
        yield document.text
        seen += len(document.text)
        if limit is not None and seen > limit:
            return


@contextmanager
def _values_by_model(
    out: Path, options: SurrogateOptions, inputs: SourceSettings, factory: EngineFactory, observer: Observer
) -> Iterator[tuple[EngineFactory, Drawn | None]]:
    """Draw values by a model; give the factory with these values, and what was drawn. Code draws all values without ``values="llm"``."""
    if options.values == "code":
        if options.provider or options.model or options.base_url:
            raise UsageError("a provider is used with --values llm only", where="--provider", remedy="Add --values llm.")
        yield factory, None
        return
    if not options.provider:
        raise UsageError("no provider is given", where="--values llm", remedy="Add --provider openai, anthropic or compatible.")
    if observer.agree is None:
        raise UsageError(
            "sending sentences to a provider must be confirmed, and there is no terminal to ask", where="--values llm", remedy="Add --yes."
        )
    from piiloom.surrogates.by_model.drawing import draw_by_model  # noqa: PLC0415 - loads for half a second; most runs ask no model

    out.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(f".{out.name}.values-", out.parent) as spool:
        with observer.asking() as watch:
            drawn = draw_by_model(inputs, factory, options, store=options.replies, folder=spool, agree=observer.agree, watch=watch)
        yield replace(factory, given=drawn.values), drawn
