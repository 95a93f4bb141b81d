"""The stories of a language and a user's own, by pair. The file of a pair is read when its stories are first asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.foundation.yaml_files import YamlDocument, data_folder, key_name, read_document, validate_document
from piiloom.taxonomy.bank_checks import BankFile
from piiloom.taxonomy.bank_loading import STORIES, user_sources
from piiloom.taxonomy.entity_types import Pair, Taxonomy
from piiloom.taxonomy.locales import Locale
from piiloom.taxonomy.stories import NO_PAIR, Story
from piiloom.taxonomy.story_checks import story_faults
from piiloom.taxonomy.story_reading import read_story
from piiloom.taxonomy.telling_plan import Narrowing, narrowed

_PLAIN = "plain"  # the start of the names of files with plain stories


def load_stories(language: str, extra: Path | None, taxonomy: Taxonomy) -> Mapping[str, Story]:
    """Return all stories that ship for *language* (ISO 639-1) by id, with those of the file or folder *extra*, which use *taxonomy*.

    Raises ``ConfigError`` (file, line, key) if a file is malformed, an id is taken, or a story of *extra* is invalid.
    """
    found = [story for source in story_sources(language) for story in _shipped(language, source.name)]
    if extra is not None:
        found += [story for source in user_sources(extra) for story in read_stories(source, taxonomy, language)]
    return MappingProxyType(stories_by_id(found))


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


def stories_by_id(stories: Iterable[Story]) -> dict[str, Story]:
    """Return *stories* by id. Raises ``ConfigError`` if two have the same."""
    found: dict[str, Story] = {}
    for story in stories:
        known = found.setdefault(story.id, story)
        if known is not story:
            raise ConfigError(f"story id {story.id!r} is taken by {known.origin}", where=story.origin, remedy="Rename one.")
    return found


class StoryBank:
    """The stories from which the composer chooses.

    *extra* is a user's file or folder of stories, which may use the types of *taxonomy*. With *narrowing*, only those stories are used, and
    only that of them is told, which it allows with *together* questions on a text. Raises ``ConfigError`` if one of *extra* is invalid.
    """

    def __init__(
        self, language: str, extra: Path | None, taxonomy: Taxonomy, narrowing: Narrowing | None = None, together: int = 1
    ) -> None:
        self.language, self._extra, self._taxonomy = language, extra, taxonomy
        self._narrowing, self._together = narrowing, together
        sources = user_sources(extra) if extra is not None else []
        # The stories in *extra*.
        self.own = tuple(story for source in sources for story in read_stories(source, taxonomy, language))
        self._shipped = {story_file(pair): pair for pair in taxonomy.pairs}
        self._by_pair: dict[Pair, tuple[Story, ...]] = {}

    @cached_property
    def own_story_types(self) -> frozenset[str]:
        """The types of the facts in the stories of *extra*."""
        return frozenset(fact.entity_type for story in self.own for fact in story.facts.values())

    @cached_property
    def pairs(self) -> frozenset[Pair]:
        """The pairs that have stories."""
        shipped = (self._shipped.get(source.name) for source in story_sources(self.language))
        found = frozenset(pair for pair in shipped if pair is not None) | {story.pair for story in self.own if story.facts}
        return found if self._narrowing is None else frozenset(pair for pair in found if self.for_pair(pair))

    def tellable(self, wanted: Sequence[Pair], *, everything: bool, locale: Locale) -> tuple[Pair, ...]:
        """Return those of *wanted* that have stories.

        Raises ``UsageError`` if one of them has none; with *everything*, only if all have none.
        """
        found = tuple(pair for pair in wanted if pair in self.pairs)
        where = f"locale {locale.code}"
        if self._narrowing is not None:
            self._check_kinds(self._narrowing.kinds, wanted)
            if not found:
                remedy = "Allow more types or kinds, or ask one question of each text with --questions-per-text 1"
                raise UsageError("no story can be told within this request", where="--only-types and --with", remedy=remedy)
        if not self.pairs:
            raise UsageError(f"there are no stories in {locale.language_name}", where=where, remedy="Use --recipe staged")
        if not found or (not everything and len(found) < len(wanted)):
            missing = ", ".join("+".join(pair) for pair in wanted if pair not in found)
            there = ", ".join(map("+".join, sorted(self.pairs)))
            raise UsageError(f"there is no story of {missing}", where=where, remedy=f"There are stories of {there}")
        return found

    def _check_kinds(self, kinds: frozenset[str], wanted: Sequence[Pair]) -> None:
        """Raise ``UsageError`` for the first of *kinds* that no story of the pairs *wanted* holds."""
        whole = StoryBank(self.language, self._extra, self._taxonomy)
        held = {fact.subtype for pair in wanted for story in whole.for_pair(pair) for fact in story.facts.values()} if kinds else kinds
        for name in sorted(kinds - held):
            raise UsageError(f"no story holds the kind {name!r}", where="--with", remedy=f"Stories hold {', '.join(sorted(held))}")

    def for_pair(self, pair: Pair) -> tuple[Story, ...]:
        """Return the stories of *pair*, in the order of their files; empty if there are none."""
        found = self._by_pair.get(pair)
        if found is None:
            own = [story for story in self.own if story.pair == pair]
            found = tuple(stories_by_id([*stories_for(pair, self.language), *own]).values())
            if self._narrowing is not None:
                cut = (narrowed(story, self._narrowing, self._together) for story in found)
                found = tuple(story for story in cut if story is not None)
            self._by_pair[pair] = found
        return found

    @property
    def plain(self) -> tuple[Story, ...]:
        """The stories without personal data."""
        return self.for_pair(NO_PAIR)

    def about(self, pair: Pair, topic: str) -> tuple[Story, ...]:
        """Return the stories of *pair* on *topic*."""
        return tuple(story for story in self.for_pair(pair) if story.topic == topic)

    def find(self, pair: Pair, story_id: str) -> Story:
        """Return the story *story_id*, of *pair* or a plain one. Raises ``KeyError`` if there is none."""
        for story in (*self.for_pair(pair), *self.plain):
            if story.id == story_id:
                return story
        raise KeyError(story_id)


def stories_digest(language: str, extra: Path | None) -> str:
    """Return the SHA-256 (hex) of the names and contents of all files on which the texts of stories depend."""
    read = hashlib.sha256()
    beside = (data_folder("taxonomy") / name for name in ("habits.yaml", "pronouns.yaml"))
    for source in (*beside, *story_sources(language), *(user_sources(extra) if extra is not None else ())):
        read.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return read.hexdigest()
