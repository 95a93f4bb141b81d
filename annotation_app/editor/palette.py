"""A colour for each entity type: far apart in hue, of middle lightness, so that they show on light and on dark ground.

Colour is never the only sign: the editor also writes the type's name and draws the relevance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# Ordered so that neighbours in a list differ most.
_COLOURS = (
    "#3b82c4",
    "#c46a1b",
    "#2e9e6b",
    "#b4459f",
    "#8a8f1f",
    "#6a5acd",
    "#c9485b",
    "#1f9aa8",
    "#9a6b3f",
    "#5f8f2f",
    "#d05a9a",
    "#4f6fb0",
    "#b58b00",
    "#7d4fa8",
    "#4a8c7f",
)
# For own types: between the hues above.
_FURTHER = ("#a8556b", "#3f8fae", "#9b5fc0", "#7f8a4a", "#c2603f", "#5c7fc9", "#3f9a4f", "#b06f8f", "#8b7a2f")


def colours(types: Iterable[str]) -> Mapping[str, str]:
    """A colour for each of *types*, in order; they come round again where there are more types than colours.

    Own types come after those that ship, in the order in which their store got them, so a type keeps its colour.
    """
    ordered = (*_COLOURS, *_FURTHER)
    return {name: ordered[place % len(ordered)] for place, name in enumerate(types)}
