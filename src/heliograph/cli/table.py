"""Tables in a terminal, and the same as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from collections.abc import Sequence


_SECOND: Final = 1e9
_DIGITS_MAX: Final = 999.5  # From here on three digits would be written as 1e+03.
_UNITS: Final = (
    ("d", 86_400e9),
    ("h", 3_600e9),
    ("min", 60e9),
    ("s", _SECOND),
    ("ms", 1e6),
    ("us", 1e3),
)


def show_table(head: Sequence[str], rows: Sequence[Sequence[Any]], *, err: bool = False) -> None:
    """Print rows under a head; numbers stand right, texts left."""
    for line in table_lines(head, rows):
        click.echo(line, err=err)


def table_lines(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return rows under a head, as `show_table` prints them."""
    texts = [["" if cell is None else shown(str(cell)) for cell in row] for row in rows]
    head = [*map(shown, head)]
    widths = [max(map(len, column)) for column in zip(head, *texts, strict=True)]
    right = [
        bool(rows)
        and all(isinstance(row[place], int | float | None) or _numeric(row[place]) for row in rows)
        for place in range(len(head))
    ]
    lines = []
    for line in (head, ["-" * width for width in widths], *texts):
        cells = [
            cell.rjust(width) if flush else cell.ljust(width)
            for cell, width, flush in zip(line, widths, right, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def shown(text: str) -> str:
    """Return a text that comes from others as a terminal may show it: it obeys no part of it."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _numeric(cell: Any) -> bool:
    """Say whether a text is a number with its unit, such as `12.5 %` or `3 ms`."""
    first = str(cell).lstrip("-").split(" ")[0].replace(",", "").replace(".", "")
    return first.isdigit() or cell in ("", "-")


def seconds(nanoseconds: float | None) -> str:
    """Return a duration with the unit that suits it."""
    if nanoseconds is None:
        return "-"
    for unit, size in _UNITS:
        if abs(nanoseconds) >= size:
            amount = nanoseconds / size
            whole = size >= _SECOND or abs(amount) >= _DIGITS_MAX
            return f"{amount:,.1f} {unit}" if whole else f"{amount:.3g} {unit}"
    return f"{nanoseconds:.0f} ns"


def percent(fraction: float) -> str:
    """Return a fraction as percent."""
    return f"{fraction * 100:.1f} %"
