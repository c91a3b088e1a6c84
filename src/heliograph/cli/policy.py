"""`heliograph policy`: check, explain and try policies before any network exists."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from heliograph.cli.arguments import FILE, POLICY
from heliograph.cli.options import AS_JSON, STREAM, TIME, located
from heliograph.cli.trial import try_
from heliograph.event.errors import PolicyError, TraceError, UsageError

if TYPE_CHECKING:
    from heliograph.policy.explain import Explanation


@click.group()
def command() -> None:
    """Write, check and try policies: what may be dropped, and what is told of it.

    POLICY is a file in XML, YAML or JSON, or a built-in policy: oldest, newest, "latest-per KEY".
    TRACE is a recorded stream in CSV, JSON lines or Parquet; - reads CSV or JSON lines from
    standard input.
    """


@command.command()
@click.argument("policy", type=POLICY)
@AS_JSON
def check(policy: str, *, as_json: bool) -> None:
    """Check POLICY and say in plain words what it does.

    A mistake is shown with its line, the element, and what was expected; the exit code is then 1.

    \b
    Example:
      heliograph policy check examples/policies/pulse.yaml
    """  # noqa: D301 - \b is click's mark for text that keeps its lines
    from heliograph.policy.builtin import resolve
    from heliograph.policy.reading import read

    try:
        with located(policy) if not as_json else nullcontext():
            found = resolve(policy)
    except PolicyError as error:
        if not as_json:
            raise
        place = {"line": error.line, "element": error.element, "reason": error.reason}
        click.echo(json.dumps({"ok": False, "error": place}))
        raise SystemExit(1) from None
    if as_json:
        result = {"identity": found.identity, "policy": found.document(), "reading": read(found)}
        click.echo(json.dumps({"ok": True} | result))
        return
    for line in read(found):
        click.echo(line)


@command.command(short_help="Print the JSON Schema of policy documents.")
def schema() -> None:
    """Print the JSON Schema of policy documents, for editors that check as you type.

    \b
    Example:
      heliograph policy schema > policy.schema.json
    """  # noqa: D301 - as above
    from heliograph.policy.json_schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2))


@command.command()
@click.argument("policy", type=POLICY)
@click.argument("trace", type=FILE)
@click.option(
    "--lane", default=1024, show_default=True, type=click.IntRange(2, 65_536),
    help="Take the trace as full lanes of so many events, as packing would.",
)  # fmt: skip
@TIME
@STREAM
@AS_JSON
def explain(
    policy: str, trace: str, *, lane: int, time_tag: str | None, stream: str | None, as_json: bool
) -> None:
    """Run each filter of POLICY over TRACE, alone and in its place.

    Shows what each filter drops and costs, which never act or are shadowed by an earlier one, and
    a cheaper order where there is one. A trace may be larger than memory.

    \b
    Example:
      heliograph policy explain examples/policies/pulse.yaml examples/traces/pulse.csv
    """  # noqa: D301 - as above
    from heliograph.cli.missing import attributes_missing, note_waiting, show_missing
    from heliograph.cli.progress import watched
    from heliograph.event.trace import open_trace
    from heliograph.policy.builtin import resolve
    from heliograph.policy.explain import Explainer

    with located(policy):
        found = resolve(policy)
    if not found.always and not found.levels:
        raise UsageError(
            f"{policy} has no filters to explain: heliograph policy try shows what it keeps"
        )
    explainer = Explainer(found, lane, time.perf_counter_ns)
    with located(policy), open_trace(trace, time=time_tag, stream=stream) as source:
        for block, schema in watched(source, "explaining"):
            explainer.offer(block, schema)
        missing = attributes_missing(found, source.schema)
    explanation = explainer.finish()
    note_waiting(explanation, missing)
    if not explanation.events:
        raise TraceError(f"{trace} holds no events")
    if as_json:
        click.echo(json.dumps(_explanation(explanation) | {"missing": missing}))
        return
    _show(explanation, lane)
    show_missing(trace, missing, source.schema)


def _explanation(found: Explanation) -> dict[str, Any]:
    return {
        "events": found.events,
        "lanes": found.lanes,
        "kept_after_level": found.kept,
        "filters": [
            {
                "level": one.level,
                "filter": one.filter.document(),
                "alone": one.alone,
                "met": one.met,
                "dropped": one.dropped,
                "share": one.share,
                "ns_per_event": one.cost_per_event,
                "note": one.note,
            }
            for one in found.filters
        ],
        "advice": found.advice,
    }


def _show(found: Explanation, lane: int) -> None:
    from heliograph.cli.table import percent, show_table
    from heliograph.policy.reading import describe

    events = "1 event" if found.events == 1 else f"{found.events:,} events"
    lanes = "1 lane" if found.lanes == 1 else f"{found.lanes:,} lanes"
    click.echo(f"{events}, as {lanes} of up to {lane:,}\n")
    head = ["level", "filter", "alone", "drops here", "share", "ns/event", "note"]
    rows = [
        [
            "always" if one.level == 0 else one.level,
            one.filter.name,
            percent(one.share_alone),
            f"{one.dropped:,}",
            percent(one.share),
            f"{one.cost_per_event:.0f}",
            one.note,
        ]
        for one in found.filters
    ]
    show_table(head, rows)
    click.echo()
    for one in found.filters:
        where = "always" if one.level == 0 else f"level {one.level}"
        click.echo(f"{where:8} {describe(one.filter)}")
    click.echo()
    levels = sorted({one.level for one in found.filters})
    for level, kept in zip(levels, found.kept, strict=True):
        where = "the always level" if level == 0 else f"level {level}"
        click.echo(f"after {where} {percent(kept / found.events)} of the events are left")
    for line in found.advice:
        click.echo(f"advice: {line}")


command.add_command(try_)
