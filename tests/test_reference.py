"""The references of the planet and of the wire name every setting, metric, field and frame."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import pytest

from consoles import ROOT, planet
from heliograph.cli.settings import template
from heliograph.cli.words import drop_words
from heliograph.client.config import ClientConfig
from heliograph.net.metrics import METRICS
from heliograph.net.sync import connect_sync
from heliograph.planet.config import PlanetConfig
from heliograph.planet.planet import AGAIN
from heliograph.wire import frames, messages

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = ROOT / "src" / "heliograph"
PLANET = (ROOT / "docs/reference/planet.md").read_text(encoding="utf-8")
WIRE = (ROOT / "docs/reference/wire.md").read_text(encoding="utf-8")
STRUCTS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i64": "q"}


def rows(text: str, head: str) -> list[list[str]]:
    """Return the cells of the table whose first column has this head."""
    (found,) = re.findall(
        rf"^\| {re.escape(head)} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE
    )
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in found.splitlines()]


def words(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def section(head: str) -> str:
    begin = PLANET.index(f"## {head}\n")
    return PLANET[begin : PLANET.index("\n#", begin + 4)]


def test_every_setting_of_a_planet_is_documented_with_what_it_is_by_itself() -> None:
    shown = re.findall(r"^#(\w+) = (.*)$", template(PlanetConfig()), re.MULTILINE)
    table = rows(PLANET[: PLANET.index("### Of a client")], "setting")
    assert [(row[0].strip("`"), row[1].strip("`")) for row in table] == shown


def test_every_setting_of_a_client_is_documented() -> None:
    table = rows(section("Of a client"), "setting")
    assert [row[0].strip("`") for row in table] == list(ClientConfig.__struct_fields__)
    for row in table:
        value = getattr(ClientConfig(), row[0].strip("`"))
        assert row[1].strip("`") == (f'"{value}"' if isinstance(value, str) else f"{value:_}")


def test_every_metric_is_documented() -> None:
    table = [(row[0].strip("`"), row[1], row[2].strip("`")) for row in rows(PLANET, "metric")]
    assert table == [(f"heliograph_{one.name}", one.kind, one.label) for one in METRICS]


@pytest.fixture(scope="module")
def status() -> Iterator[dict[str, Any]]:
    with planet() as address, connect_sync(address, name="one") as client:
        client.subscribe("s")
        with client.advertise("s"):
            yield client.status(10)


@pytest.mark.parametrize(
    ("head", "table"),
    [("field", ""), *((f"field of a {one}", f"{one}s") for one in ("client", "stream", "lane"))],
)
def test_every_field_of_a_status_is_documented(
    status: dict[str, Any], head: str, table: str
) -> None:
    found = status[table][0] if table else status
    named = {word for row in rows(PLANET, head) for word in words(row[0])}
    assert named == set(found)


def test_why_events_are_dropped_is_documented() -> None:
    for reason, read, _ in rows(PLANET, "reason"):
        assert f"({read} 1)" in drop_words({reason.strip("`"): 1})
    text = "".join((SOURCES / "lane" / f"{one}.py").read_text() for one in ("squeeze", "discard"))
    for reason, *_ in rows(PLANET, "reason"):
        assert f'"{reason.strip("`")}"' in text


def test_why_peers_are_refused_is_documented() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (SOURCES / "planet").glob("*.py")]
    kinds = {
        kind for text in texts for kind in re.findall(r'\b(?:refuse|put)\(\s*\S+, "(\w+)"', text)
    }
    table = {row[0].strip("`"): row[1] for row in rows(PLANET, "kind")}
    assert set(table) == kinds - {"closing"}
    assert {kind for kind, again in table.items() if again == "yes"} == {*AGAIN} - {"closing"}


def test_every_log_line_is_documented() -> None:
    said = {
        (name, level)
        for path in SOURCES.rglob("*.py")
        for level, name in re.findall(
            r'(?:\blog|\bLog|journal\.write)\(\s*"(\w+)",\s*"(\w+)"', path.read_text("utf-8")
        )
        if "sim" not in path.parts
    }
    text = PLANET[PLANET.index("## Log") :]
    found = re.findall(r"^\| (`.*?) \| (debug|info|warning|error) \|", text, re.MULTILINE)
    assert {(name, level) for cell, level in found for name in words(cell)} == said


@pytest.mark.parametrize("row", rows(WIRE, "kind"), ids=lambda row: row[1])
def test_a_frame_is_laid_out_as_documented(row: list[str]) -> None:
    kind, name, head, _, _ = row
    assert getattr(frames, name) == int(kind)
    layout = "<I" + "".join(STRUCTS[one.split()[-1]] for one in head.split(", ")[1:])
    structs = {
        "EVENT": frames.EVENT_HEAD, "BLOCK": frames.BLOCK_HEAD, "DIGEST": frames.ALIAS_HEAD,
        "TO": frames.TO_FRAME, "CURSOR": frames.CURSOR_FRAME,
    }  # fmt: skip
    assert layout == structs.get(name, frames.WORD).format


def test_every_kind_of_frame_is_documented() -> None:
    assert [int(row[0]) for row in rows(WIRE, "kind")] == [*range(frames.CONTROL, frames.WANT + 1)]


def test_every_message_is_documented_with_its_fields() -> None:
    table = {row[1].strip("`"): (int(row[0]), words(row[2])) for row in rows(WIRE, "tag")}
    infos = [msgspec.inspect.type_info(one) for one in get_args(messages.AnyMessage)]
    assert table == {
        one.cls.__name__: (one.tag, [field.name for field in one.fields])
        for one in infos
        if isinstance(one, msgspec.inspect.StructType)
    }


def test_the_versions_and_features_are_documented() -> None:
    assert (messages.OLDEST, messages.VERSION, messages.FEATURES) == (
        1, 1, ("to", "displaced"),
    )  # fmt: skip
    assert "This is version 1," in WIRE
    assert "There are two: `to`" in WIRE
    assert "`displaced`" in WIRE
