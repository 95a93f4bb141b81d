"""Label maps: which type, or type and subtype, a label of another data set or tool means.

A map is a YAML file of ``label: type``, ``label: type/subtype`` or ``label: null`` (no personal information). Those in
``data/label_maps`` ship with piiloom.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from importlib.resources.abc import Traversable
from pathlib import Path

import yaml

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.foundation.yaml_files import YamlDocument, data_folder, key_name, read_document
from piiloom.taxonomy.entity_types import Taxonomy, shipped_taxonomy

LabelMap = dict[str, str | None]

_SUFFIX = ".yaml"


def shipped_label_maps() -> list[str]:
    """Return the names of the maps that ship with piiloom."""
    return sorted(file.name.removesuffix(_SUFFIX) for file in _folder().iterdir() if file.name.endswith(_SUFFIX))


def label_map(name_or_path: str | Path, taxonomy: Taxonomy) -> LabelMap:
    """Return the shipped map of that name, or the one in the YAML file at that path; targets are spelled as in *taxonomy*.

    Raises ``UsageError`` if there is neither, and ``ConfigError`` (file, line, label) for the first fault in a file.
    """
    shipped = shipped_label_maps()
    if str(name_or_path) in shipped:
        return _read(_folder() / f"{name_or_path}{_SUFFIX}", taxonomy)
    path = Path(name_or_path)
    if not path.is_file():
        close = get_close_matches(str(name_or_path), shipped, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        known = ", ".join(shipped)
        raise UsageError(f"there is no label map {str(name_or_path)!r}", remedy=f"{hint}Name a YAML file, or one of: {known}")
    return _read(path, taxonomy)


def maps_for(labels: Collection[str]) -> dict[str, int]:
    """Return the shipped maps that have at least half of *labels*, the best first, and how many each has."""
    found = {name: len(label_map(name, shipped_taxonomy()).keys() & set(labels)) for name in shipped_label_maps()}
    fitting = {name: count for name, count in found.items() if count and 2 * count >= len(set(labels))}
    return dict(sorted(fitting.items(), key=lambda one: -one[1]))


def _folder() -> Traversable:
    return data_folder("taxonomy") / "label_maps"


def _read(source: Traversable | Path, taxonomy: Taxonomy) -> LabelMap:
    document = read_document(source)
    if not isinstance(document.data, dict) or not document.data:
        raise ConfigError("is no label map", where=document.where(), remedy="Write a line a label, such as: PER: name")
    return {label_key(document, key): _target(document, key, value, taxonomy) for key, value in document.data.items()}


def label_key(document: YamlDocument, key: object) -> str:
    """Return the label *key*; raises ``ConfigError`` if YAML read it as something else: ``NO`` is false there, ``1`` a number."""
    if isinstance(key, str) and key:
        return key
    written = next((node.value for node, _ in _pairs(document.node) if yaml.safe_load(node.value) == key), str(key))
    raise ConfigError(f"the label {written!r} is read as {key!r}", where=document.where([written]), remedy="Put the label in quotes.")


def _pairs(node: yaml.Node | None) -> Iterable[tuple[yaml.Node, yaml.Node]]:
    return node.value if isinstance(node, yaml.MappingNode) else ()


def _target(document: YamlDocument, label: str, value: object, taxonomy: Taxonomy) -> str | None:
    if value is None:
        return None
    where = document.where([label])
    if not isinstance(value, str):
        remedy = "Write a type, type/subtype, or null for what is no personal information."
        raise ConfigError(f"{key_name([label])}: must be text or null", where=where, remedy=remedy)
    name, slash, subtype = value.partition("/")
    found = taxonomy.resolve(name) or name
    try:
        if slash:
            taxonomy.subtype(found, subtype)
        else:
            taxonomy.get(found)
    except UsageError as error:
        raise ConfigError(f"{key_name([label])}: {error.message}", where=where, remedy=error.remedy) from error
    return f"{found}/{subtype}" if slash else found
