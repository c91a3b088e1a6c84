"""Metrics: a planet's status as Prometheus reads it, with what was dropped labelled by reason.

Nothing is labelled by stream or client: those are without bound, and `heliograph top` shows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Metric(NamedTuple):
    """One metric: its name, kind and meaning, the label it may have, and where its values are."""

    name: str
    kind: str
    help: str
    label: str
    values: Callable[[Mapping[str, Any]], Mapping[str, float] | float]


def _clients(status: Mapping[str, Any]) -> Mapping[str, float]:
    return {state: status["counts"][state] for state in ("attached", "detached")}


METRICS: Final = (
    Metric(
        "uptime_seconds", "gauge", "How long the planet has been running.", "",
        lambda status: status["uptime_seconds"],
    ),
    Metric(
        "closing", "gauge", "1 while the planet shuts down.", "",
        lambda status: int(status["closing"]),
    ),
    Metric(
        "connections", "gauge", "Connections that are open.", "",
        lambda status: status["connections"],
    ),
    Metric("clients", "gauge", "Clients, attached and detached.", "state", _clients),
    Metric(
        "streams", "gauge", "Streams that are offered or waited for.", "",
        lambda status: status["counts"]["streams"],
    ),
    Metric("lanes", "gauge", "Lanes.", "", lambda status: status["counts"]["lanes"]),
    Metric(
        "lane_fill_max", "gauge", "How full the fullest lane is, from 0 to 1.", "",
        lambda status: max((one["fill"] for one in status["lanes"]), default=0),
    ),
    Metric(
        "buffer_bytes", "gauge", "What all lanes hold together.", "",
        lambda status: status["buffer"]["bytes"],
    ),
    Metric(
        "buffer_capacity_bytes", "gauge", "What all lanes may hold together.", "",
        lambda status: status["buffer"]["capacity"],
    ),
    Metric(
        "events_received_total", "counter", "Events that senders sent.", "",
        lambda status: status["events"]["received"],
    ),
    Metric(
        "events_delivered_total", "counter", "Events that left a lane for its receivers.", "",
        lambda status: status["events"]["delivered"],
    ),
    Metric(
        "events_dropped_total", "counter", "Events that packs dropped, which digests tell of.",
        "reason", lambda status: status["events"]["dropped"],
    ),
    Metric(
        "events_filtered_total", "counter", "Events that an always level removed as unwanted.", "",
        lambda status: status["events"]["filtered"],
    ),
    Metric(
        "packs_total", "counter", "Runs of a policy on a full lane.", "",
        lambda status: status["packs"],
    ),
    Metric(
        "peers_refused_total", "counter", "Peers that were closed because of what they did.",
        "kind", lambda status: status["refused"],
    ),
    Metric(
        "links_accepted_total", "counter", "Links that were accepted.", "",
        lambda status: status["links"]["accepted"],
    ),
    Metric(
        "links_refused_total", "counter", "Links that were closed for want of room.", "",
        lambda status: status["links"]["refused"],
    ),
)  # fmt: skip


def render(status: Mapping[str, Any]) -> str:
    """Return a status in the text format of Prometheus."""
    lines: list[str] = []
    for metric in METRICS:
        name = f"heliograph_{metric.name}"
        lines += [f"# HELP {name} {metric.help}", f"# TYPE {name} {metric.kind}"]
        values = metric.values(status)
        if isinstance(values, int | float):
            lines.append(f"{name} {values}")
            continue
        lines += [
            f'{name}{{{metric.label}="{_escaped(key)}"}} {value}' for key, value in values.items()
        ]
    return "\n".join([*lines, ""])


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
