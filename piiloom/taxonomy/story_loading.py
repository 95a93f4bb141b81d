"""Loading stories: those that ship for a language, one file per pair, and those in a user's own files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import YamlDocument, data_folder, key_name, read_document, validate_document
from piiloom.taxonomy.bank_files import BankFile
from piiloom.taxonomy.bank_loading import STORIES, user_sources
from piiloom.taxonomy.entity_types import Pair, Taxonomy
from piiloom.taxonomy.stories import NO_PAIR, Story
from piiloom.taxonomy.story_checks import story_faults
from piiloom.taxonomy.story_reading import read_story

_PLAIN = "plain"  # the start of the names of files with plain stories


def load_stories(language: str, extra: Path | None, taxonomy: Taxonomy) -> Mapping[str, Story]:
    """Return all stories that ship for *language* (ISO 639-1) by id, with those of the file or folder *extra*, which use *taxonomy*.

    Raises ``ConfigError`` (file, line, key) if a file is malformed, an id is taken, or a story of *extra* is invalid.
    """
    found = [story for source in story_sources(language) for story in _shipped(language, source.name)]
    if extra is not None:
        found += [story for source in user_sources(extra) for story in read_stories(source, taxonomy, language)]
    return MappingProxyType(by_id(found))


def stories_for(pair: Pair, language: str = "en") -> tuple[Story, ...]:
    """Return the stories that ship for one pair; for ``NO_PAIR`` the plain ones. This reads only the files of that pair."""
    name = story_file(pair)
    names = [one.name for one in story_sources(language) if (one.name.startswith(_PLAIN) if pair == NO_PAIR else one.name == name)]
    return tuple(story for name in names for story in _shipped(language, name))


def story_file(pair: Pair) -> str:
    """Return the name of the file with the shipped stories of *pair*."""
    return "-".join(kind.replace(" ", "_") for kind in sorted(pair)) + ".yaml"


def story_sources(language: str) -> tuple[Traversable, ...]:
    """Return the story files that ship for *language*, sorted by name; empty if there are none."""
    folder = _folder(language)
    if not folder.is_dir():
        return ()
    return tuple(sorted((f for f in folder.iterdir() if f.name.endswith(".yaml")), key=lambda f: f.name))


def _folder(language: str) -> Traversable:
    return data_folder("taxonomy") / "banks" / language / STORIES


@lru_cache(maxsize=1024)
def _shipped(language: str, name: str) -> tuple[Story, ...]:
    """Return the stories of a shipped file. They are not checked here: the tests do that."""
    document = read_document(_folder(language) / name)
    return _stories(validate_document(document, BankFile), document)


def read_stories(source: Traversable | Path, taxonomy: Taxonomy, language: str = "en") -> tuple[Story, ...]:
    """Return the stories of one file. Raises ``ConfigError`` for the first entry that cannot be told."""
    document = read_document(source)
    parsed = validate_document(document, BankFile)
    for index, entry in enumerate(parsed.stories):
        for path, fault in story_faults(("stories", index), entry, taxonomy, language):
            raise ConfigError(f"{key_name(path)}: {fault}", where=document.where(path), remedy="piiloom stories check lists all faults.")
    return _stories(parsed, document)


def _stories(parsed: BankFile, document: YamlDocument) -> tuple[Story, ...]:
    return tuple(read_story(entry, document.where(("stories", index))) for index, entry in enumerate(parsed.stories))


def by_id(stories: Iterable[Story]) -> dict[str, Story]:
    """Return *stories* by id. Raises ``ConfigError`` if two have the same."""
    found: dict[str, Story] = {}
    for story in stories:
        known = found.setdefault(story.id, story)
        if known is not story:
            raise ConfigError(f"story id {story.id!r} is taken by {known.origin}", where=story.origin, remedy="Rename one.")
    return found
