"""The pipeline to train, and the examples for it.

From a base it takes tokenizer, word vectors and the layers that read words. The layers above them begin anew, since its labels are others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.docbin import DocBinFormat
from piiloom.corpus.formats.tokenizing import blank_pipeline, import_spacy
from piiloom.corpus.record import Record
from piiloom.detection.adapters.languages import ANY_LANGUAGE, locale_language
from piiloom.detection.spacy_pipeline.loading import load_any
from piiloom.taxonomy.entity_types import Taxonomy

RECOGNIZER: Final = "ner"
_WORDS: Final = "tok2vec"
_BEGUN_WITH: Final = ("vectors", "lookups", "vocab_data", "init_tok2vec", "before_init", "after_init")


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A pipeline that is ready to be trained; ``note`` says what of the base it could not use."""

    nlp: Any
    base: dict[str, Any]
    note: str | None = None


def language_for(records: Iterable[Record]) -> str:
    """Return the language of *records*, or that of all languages if there are several."""
    found = {locale_language(record.locale) for record in records}
    return found.pop() if len(found) == 1 else ANY_LANGUAGE


def make_pipeline(base: str | None, language: str) -> Made:
    """Return the pipeline to train, with a recognizer that knows nothing yet. Raises ``UsageError`` for a base that cannot be loaded."""
    if base is None:
        nlp = blank_pipeline(language)
        nlp.add_pipe(RECOGNIZER)
        return Made(nlp=nlp, base={"name": f"blank {nlp.lang}"})
    nlp = load_any(base, where="--model")
    about = {"name": f"{nlp.meta['lang']}_{nlp.meta['name']}", "version": nlp.meta.get("version"), "vectors": nlp.vocab.vectors_length}
    old = nlp.get_pipe(RECOGNIZER) if nlp.has_pipe(RECOGNIZER) else None
    config = nlp.get_pipe_config(RECOGNIZER) if old is not None else {}
    for name in list(nlp.pipe_names):
        nlp.remove_pipe(name)
    for name in list(nlp.disabled):
        nlp.remove_pipe(name)
    if old is not None and nlp.lang and _has_own_words(old):
        nlp.add_pipe(RECOGNIZER, config={"model": config["model"]})
        return Made(nlp=nlp, base=about | {"layers": True, "_words": old.model.get_ref(_WORDS).to_bytes()})
    nlp.add_pipe(RECOGNIZER, config=_with_vectors(nlp) if nlp.vocab.vectors_length else {})
    return Made(
        nlp=nlp, base=about, note="of the base, only tokenizer and word vectors are used: its recognizer has no word layers of its own"
    )


def _has_own_words(recognizer: Any) -> bool:
    """Whether the layers that read words belong to *recognizer*, and not to a component that it listens to."""
    model = recognizer.model
    return bool(model.has_ref(_WORDS)) and not any("listener" in node.name for node in model.get_ref(_WORDS).walk())


def _with_vectors(nlp: Any) -> dict[str, Any]:
    config: dict[str, Any] = nlp.get_factory_meta(RECOGNIZER).default_config["model"]
    return {"model": {**config, _WORDS: {**config[_WORDS], "pretrained_vectors": True}}}


def initialize(made: Made, examples: Sequence[Any], seed: int) -> Any:
    """Give the recognizer its labels and first weights, those of the base where it has some; return the optimizer."""
    spacy = import_spacy()
    spacy.util.fix_random_seed(seed)
    words = made.base.pop("_words", None)
    # What the base was begun with (tables, vectors) is in its vocabulary, and need not be installed here.
    made.nlp.config["initialize"] = {**made.nlp.config["initialize"], **dict.fromkeys(_BEGUN_WITH)}
    optimizer = made.nlp.initialize(lambda: examples)
    if words is not None:
        made.nlp.get_pipe(RECOGNIZER).model.get_ref(_WORDS).from_bytes(words)
    return optimizer


def spacy_examples(nlp: Any, taxonomy: Taxonomy, *splits: Sequence[Record]) -> tuple[list[list[Any]], Counter[str]]:
    """Return the records of *splits* as examples for *nlp*, by our export for spaCy; and how many spans that changes, by reason."""
    spacy = import_spacy()
    with TemporaryDirectory() as folder:
        pipeline, written = Path(folder) / "pipeline", Path(folder) / "records.spacy"
        blank = spacy.blank(nlp.lang)
        blank.tokenizer = nlp.tokenizer
        blank.to_disk(pipeline)
        records = [record for split in splits for record in split]
        losses = DocBinFormat().write(records, written, WriteOptions(taxonomy=taxonomy, tokenizer=f"spacy:{pipeline}"))
        docs = iter(list(spacy.tokens.DocBin().from_disk(written).get_docs(nlp.vocab)))
    examples = [[spacy.training.Example(nlp.make_doc(doc.text), doc) for doc in islice(docs, len(split))] for split in splits]
    return examples, Counter(entry.reason for entry in losses.entries)
