"""Text in columns: a table without rules, cheap to make, and as it is when it goes into a pipe."""

from __future__ import annotations

from collections.abc import Collection, Sequence

GAP = 2


def in_columns(
    rows: Sequence[Sequence[str]], *, width: int | None = None, spared: Sequence[str] = (), left: Collection[int] = (0,)
) -> list[str]:
    """Set the cells of *rows*, titles first, in columns; those numbered in *left* to the left, the others to the right.

    Where the lines would be longer than *width*, columns are left out in the order of their titles in *spared*.
    """
    columns = [(at in left, column) for at, column in enumerate(zip(*rows, strict=True))]
    widths: list[int] = []
    for title in (None, *spared):
        columns = [(to_left, column) for to_left, column in columns if column[0] != title]
        widths = [max(map(len, column)) for _, column in columns]
        if width is None or sum(widths) + GAP * (len(widths) - 1) <= width:
            break
    cells = [
        [cell.ljust(wide) if to_left else cell.rjust(wide) for cell in column]
        for (to_left, column), wide in zip(columns, widths, strict=True)
    ]
    return [(" " * GAP).join(row).rstrip() for row in zip(*cells, strict=True)]
