"""Results as data frames: ``to_pandas`` and a table in notebooks for the results of Python functions. pandas is loaded only then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    import pandas as pd

ItemT = TypeVar("ItemT")
Row = Mapping[str, Any]
_SHOWN_ROWS = 20


class Framed:
    """A result with ``to_pandas``. ``frame_rows`` says what its rows are: one row with all fields, if a dataclass has no other."""

    __slots__ = ()

    def frame_rows(self) -> Iterable[Row]:
        """Return the rows of the frame, each with its cells by column."""
        return [{one.name: getattr(self, one.name) for one in fields(cast("Any", self))}]

    def frame_columns(self) -> Sequence[str]:
        """Return the columns of a frame without rows."""
        return ()

    def to_pandas(self) -> pd.DataFrame:
        """Return the result as a pandas data frame."""
        import pandas as pd  # noqa: PLC0415 - takes half a second, and few scripts want it

        rows = [dict(row) for row in self.frame_rows()]
        return pd.DataFrame(rows) if rows else pd.DataFrame(columns=list(self.frame_columns()))

    def _repr_html_(self) -> str:
        """Return the frame's first and last rows as an HTML table for notebooks; texts are escaped."""
        return str(self.to_pandas().to_html(max_rows=_SHOWN_ROWS, index=False))


class Rows(list[ItemT], Framed):
    """A list with ``to_pandas``; ``rows_of(number, item)`` returns the rows of one item. An empty frame has *columns*."""

    def __init__(self, items: Iterable[ItemT], rows_of: Callable[[int, ItemT], Iterable[Row]], columns: Sequence[str]) -> None:
        super().__init__(items)
        self._rows_of = rows_of
        self._columns = columns

    def frame_columns(self) -> Sequence[str]:
        """Return the columns that every item has."""
        return self._columns

    def frame_rows(self) -> Iterator[Row]:
        """Return the rows of all items."""
        return (row for number, item in enumerate(self) for row in self._rows_of(number, item))


class Figures(dict[str, Any], Framed):
    """Figures by name, some of them in groups. In a frame each has a row, with the names of its groups before a dot."""

    def frame_rows(self) -> Iterator[Row]:
        """Return a row for each figure."""
        return ({"figure": ".".join(path), "value": value} for path, value in _leaves(self, ()))


def _leaves(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    if isinstance(value, Mapping):
        parts = [(str(name), part) for name, part in value.items()]
    elif isinstance(value, list | tuple):
        parts = [(str(number), part) for number, part in enumerate(value)]
    else:
        yield path, value
        return
    for name, part in parts:
        yield from _leaves(part, (*path, name))
