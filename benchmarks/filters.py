"""Filters beside the same result computed with Polars and with DuckDB, checked to be equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

from heliograph.event.arrow import survivors
from heliograph.event.columns import Columns, NumberColumn
from heliograph.event.schema import Schema
from heliograph.policy import build
from heliograph.policy.binding import bind
from heliograph.policy.element import Element
from report import Report, best

if TYPE_CHECKING:
    from heliograph.policy.binding import BoundFilter

SHORT = 1_024
CHANGE = 5


class _Held(Columns):
    """A column that stands in memory already, as it does for the other two."""

    def __init__(self, values: Any, schema: Schema) -> None:
        super().__init__([], schema)
        self.count = len(values)
        self._columns["v"] = NumberColumn(values, None)


Case = tuple[str, Element, Callable[[pl.DataFrame], pl.DataFrame] | None, str | None]


def _test(name: str, made: Element, test: Callable[[pl.Expr], pl.Expr], sql: str) -> Case:
    """Return a case that keeps the values passing a test."""
    return name, made, lambda df: df.filter(test(pl.col("v"))), f"SELECT v FROM t WHERE v {sql}"


# Name, our filter, the same in Polars, the same as a DuckDB query over a table t(i, v).
CASES: list[Case] = [
    _test("GT 80", build.gt(80, attribute="v"), lambda v: v > 80, "> 80"),
    _test("GE 80", build.ge(80, attribute="v"), lambda v: v >= 80, ">= 80"),
    _test("LT 80", build.lt(80, attribute="v"), lambda v: v < 80, "< 80"),
    _test("LE 80", build.le(80, attribute="v"), lambda v: v <= 80, "<= 80"),
    _test("EQ 80", build.eq(80, attribute="v"), lambda v: v == 80, "= 80"),
    _test("NE 80", build.ne(80, attribute="v"), lambda v: v != 80, "<> 80"),
    _test(
        "WITHIN 50 100",
        build.within(50, 100, attribute="v"),
        lambda v: ~v.is_between(50, 100),
        "NOT BETWEEN 50 AND 100",
    ),
]
CASES += [
    (
        "GUNIQ",
        build.guniq(attribute="v"),
        lambda df: df.select("v").unique("v", keep="first", maintain_order=True),
        "SELECT v FROM (SELECT v, min(i) AS i FROM t GROUP BY v) ORDER BY i",
    ),
    (
        "EVERY 3",
        build.every(3),
        lambda df: df.gather_every(3),
        "SELECT v FROM t WHERE i % 3 = 0",
    ),
    ("DELTA 5", build.delta(CHANGE, attribute="v"), None, None),
]


def filters(report: Report, rows: int) -> None:
    """Measure each filter on a short and on a long column."""
    report.section(
        "Filters beside Polars and DuckDB",
        "From a column of int64 in memory to the values that survive, in order; results are "
        "checked equal. Polars and DuckDB use both cores, we use one. Of a short column we take "
        "the survivors by their places, as a pack does; of a long one by a mask, into an Arrow "
        "column (`arrow.survivors`), unless places alone decide. DELTA rests on the last kept "
        "event: neither can express it other than as a loop in Python, which is what ours is.",
    )
    rng = np.random.default_rng(7)
    pulse = np.clip(75 + np.cumsum(rng.normal(0, 1, rows)) % 90, 35, 190).astype(np.int64)
    wide = rng.integers(0, 2**62, rows // 10)[rng.integers(0, rows // 10, rows)]
    table = []
    for count, seconds in ((SHORT, 0.2), (rows, 1.0)):
        for name, made, expression, query in CASES:
            table.append(_compare(name, made, expression, query, pulse[:count], seconds))
        guniq = next(case for case in CASES if case[0] == "GUNIQ")
        table.append(_compare("GUNIQ, many values", *guniq[1:], wide[:count], seconds))
    head = ["filter", "rows", "ours", "Polars", "DuckDB", "ours / best of them", "goal"]
    report.table(head, table)


def _compare(
    name: str,
    made: Element,
    expression: Callable[[pl.DataFrame], pl.DataFrame] | None,
    query: str | None,
    values: Any,
    seconds: float,
) -> list[str]:
    schema = Schema.declare({"v": "int64"})
    one: BoundFilter = bind(build.policy(None, made), schema).levels[0][0]
    held = _Held(values, schema)

    whole = pa.array(values)

    def by_places() -> Any:
        return values[one.run(held, None, 0)]

    def by_mask() -> Any:
        return survivors(whole, one.mask(held, 0))

    ours = by_places if len(values) == SHORT or one.positions is not None else by_mask
    rounds = 7 if len(values) == SHORT else 3
    mine = best(ours, seconds, rounds)
    shown = [name, f"{len(values):,}", _time(mine)]
    if expression is None or query is None:
        return [*shown, "not expressible", "not expressible", "-", "-"]
    frame = pl.DataFrame({"v": values})
    theirs = best(lambda: expression(frame), seconds, rounds)
    source = pa.table({"i": np.arange(len(values)), "v": values})
    with duckdb.connect() as base:
        base.execute("CREATE TABLE t AS SELECT * FROM source")

        def duck() -> Any:
            return base.sql(query).to_arrow_table()

        other = best(duck, seconds, rounds)
        same = np.array_equal(duck()["v"].to_numpy(), np.asarray(ours()))
    del source
    if not same or not np.array_equal(expression(frame)["v"].to_numpy(), np.asarray(ours())):
        raise SystemExit(f"{name}: the three do not agree")
    ratio = mine / min(theirs, other)
    goal = "below 1" if len(values) == SHORT else "below 3"
    return [*shown, _time(theirs), _time(other), f"{ratio:.2f}", goal]


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"
