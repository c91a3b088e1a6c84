"""View: a planet's status as people read it: streams, lanes, drops by reason, slow receivers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heliograph.cli.table import seconds, table_lines
from heliograph.cli.words import counted, drop_words, fill, size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROWS_MAX: Final = 20
_SLOW_MAX: Final = 5
_BAR: Final = 10
_NANO: Final = 1e9
_CELL_MAX: Final = 32


def view(
    status: Mapping[str, Any],
    before: Mapping[str, Any] | None = None,
    *,
    rows: int = ROWS_MAX,
    where: str = "",
) -> list[str]:
    """Return the lines of a status; with an earlier one, rates stand beside the totals."""
    passed = 0.0 if before is None else status["uptime_seconds"] - before["uptime_seconds"]
    lines = _head(status, before, passed, where)
    streams, lanes = status["streams"], status["lanes"]
    if not streams:
        return [*lines, "", "no streams yet: heliograph pub ward-3/pulse --generate pulse"]
    lines += ["", *_streams(streams, before, passed, rows)]
    if lanes:
        lines += ["", *_lanes(lanes, rows)]
    slow = slowest(status)
    if slow:
        lines += ["", *_slow(slow)]
    return lines


def _head(
    status: Mapping[str, Any], before: Mapping[str, Any] | None, passed: float, where: str
) -> list[str]:
    events, buffer = status["events"], status["buffer"]
    detached = sum(not one["attached"] for one in status["clients"])
    clients = counted(len(status["clients"]), "client")
    said = [
        f"{_name(status['name'])}{where}, up {seconds(status['uptime_seconds'] * _NANO)}",
        f"{clients}{f' ({detached} detached)' if detached else ''}",
        f"lanes hold {size(buffer['bytes'])} of {size(buffer['capacity'])}",
    ]
    if status["closing"]:
        said.append("closing")
    rates = ["", ""]
    if before is not None and passed > 0:
        rates = [
            f" ({(events[what] - before['events'][what]) / passed:,.0f}/s)"
            for what in ("received", "delivered")
        ]
    counts = [
        f"{events['received']:,} received{rates[0]}",
        f"{events['delivered']:,} delivered{rates[1]}",
        f"{drop_words(events['dropped'])} dropped",
        f"{events['filtered']:,} filtered",
        counted(status["packs"], "pack"),
    ]
    lines = ["; ".join(said), f"events: {', '.join(counts)}"]
    if status["refused"]:
        why = ", ".join(f"{one} {count:,}" for one, count in status["refused"].items())
        lines.append(f"peers refused: {why}")
    return lines


def _name(name: str) -> str:
    return "planet" if name in ("", "planet") else f"planet {name}"


def _streams(
    streams: Sequence[Mapping[str, Any]],
    before: Mapping[str, Any] | None,
    passed: float,
    rows: int,
) -> list[str]:
    old = {} if before is None else {one["stream"]: one["events"] for one in before["streams"]}
    head = ["stream", "offered", "events", "events/s", "receivers", "lanes", "gaps"]
    shown = sorted(streams, key=lambda one: -one["events"])[:rows]
    cells = []
    for one in shown:
        rate = "-"
        if before is not None and passed > 0:
            rate = f"{(one['events'] - old.get(one['stream'], 0)) / passed:,.0f}"
        cells.append(
            [
                _short(one["stream"]), "yes" if one["offered"] else "no", f"{one['events']:,}",
                rate, f"{one['receivers']:,}", f"{one['lanes']:,}", f"{one['gaps']:,}",
            ]
        )  # fmt: skip
    return [*table_lines(head, cells), *_more(len(streams), len(shown), "stream")]


def _lanes(lanes: Sequence[Mapping[str, Any]], rows: int) -> list[str]:
    head = ["lane", "client", "policy", "receivers", "fill", "", "entries", "capacity", "level"]
    head += ["packs", "delivered", "dropped"]
    shown = sorted(lanes, key=lambda one: (-one["fill"], -one["packs"]))[:rows]
    cells = [
        [
            _short(one["stream"]),
            _short(one["name"] or f"client {one['client']}"),
            one["policy"],
            f"{one['receivers']:,}",
            fill(one["fill"]),
            bar(one["fill"]),
            f"{one['entries']:,}",
            f"{one['capacity_entries']:,}",
            _level(one),
            f"{one['packs']:,}",
            f"{one['delivered']:,}",
            drop_words(one["dropped"]),
        ]
        for one in shown
    ]
    return [*table_lines(head, cells), *_more(len(lanes), len(shown), "lane")]


def _level(lane: Mapping[str, Any]) -> str:
    if not lane["packs"]:
        return "-"
    return "beyond" if lane["level"] > lane["top"] else f"{lane['level']} of {lane['top']}"


def slowest(status: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the clients whose lanes hold most, or that are silent; the worst first."""
    held: dict[int, dict[str, Any]] = {}
    for lane in status["lanes"]:
        one = held.setdefault(lane["client"], {"entries": 0, "fill": 0.0, "dropped": 0})
        one["entries"] += lane["entries"]
        one["fill"] = max(one["fill"], lane["fill"])
        one["dropped"] += sum(lane["dropped"].values())
    found = [
        client | held[client["client"]] for client in status["clients"] if client["client"] in held
    ]
    slow = [one for one in found if one["dropped"] or one["entries"] or not one["attached"]]
    return sorted(slow, key=lambda one: (-one["fill"], -one["dropped"]))[:_SLOW_MAX]


def _slow(slow: Sequence[Mapping[str, Any]]) -> list[str]:
    head = ["slowest receivers", "attached", "fullest lane", "waiting", "under way", "window"]
    head += ["dropped", "silent for"]
    cells = [
        [
            _short(one["name"] or f"client {one['client']}"),
            "yes" if one["attached"] else "no",
            fill(one["fill"]),
            f"{one['entries']:,}",
            size(one["under_way"]),
            size(one["window"]),
            f"{one['dropped']:,}",
            seconds(one["silent_seconds"] * _NANO),
        ]
        for one in slow
    ]
    return table_lines(head, cells)


def bar(fraction: float) -> str:
    """Return how full something is as a drawing; what is not empty shows."""
    filled = round(fraction * _BAR)
    if fraction and not filled:
        filled = 1
    return f"[{'#' * filled}{'.' * (_BAR - filled)}]"


def _more(there: int, shown: int, what: str) -> list[str]:
    return [f"and {counted(there - shown, f'more {what}')}"] if there > shown else []


def _short(text: str) -> str:
    return text if len(text) <= _CELL_MAX else f"{text[: _CELL_MAX - 3]}..."
