"""A color for each entity type: distinct hues of medium lightness, readable on light and dark backgrounds.

Color is never the only sign: the editor also writes the type's name and draws the relevance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# Ordered so that neighbors in a list differ most.
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
    """Return a color for each of *types*, in order. The colors repeat if there are more types than colors.

    Own types follow the shipped ones, in the order in which the store got them, so that a type keeps its color.
    """
    ordered = (*_COLOURS, *_FURTHER)
    return {name: ordered[place % len(ordered)] for place, name in enumerate(types)}
