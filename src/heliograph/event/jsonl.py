"""JSON lines: one event or digest to a line, as a flat object.

{"_stream":"ward-3","_epoch":1,"_number":7,"_time":"2026-01-31T12:00:00Z","PulseRate":61}
{"_digest":{"stream":"ward-3","epoch":1,"after":7,"upto":9,"count":2, ...}}
"""

from __future__ import annotations

import base64
import math
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from heliograph.event.convert import events_of
from heliograph.event.digest import Digest, Part, check_digest
from heliograph.event.errors import EventError
from heliograph.event.lines import Lines, Record, not_utf8
from heliograph.event.plain import plain, read_bytes, read_plain, show_not_finite
from heliograph.event.schema import OPAQUE
from heliograph.event.types import Type, microseconds, parse_time, show_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heliograph.event.block import Block
    from heliograph.event.event import Event
    from heliograph.event.schema import Schema

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(dict[str, Any])
_BARE: Final = re.compile(rb"[:\[,]\s*-?(NaN|Infinity|inf)\b")
# The first half of a character beyond 16 bits, without the second behind it.
_HALF: Final = re.compile(
    rb"(?<!\\)(?:\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)


def line_of(one: Event | Digest) -> str:
    """Return an event or a digest as one line of JSON, without the line feed."""
    if isinstance(one, Digest):
        return _ENCODER.encode({"_digest": digest_object(one)}).decode()
    positions = {
        "_stream": one.stream,
        "_epoch": one.epoch,
        "_number": one.number,
        "_time": show_time(one.time),
    }
    values = {tag: plain(value) for tag, value in one.values.items() if value is not None}
    return _ENCODER.encode(positions | values).decode()


def lines_of(entry: Block | Digest, schema: Schema) -> Iterator[str]:
    """Yield the lines of a digest or of the events of a block."""
    if isinstance(entry, Digest):
        yield line_of(entry)
    else:
        yield from map(line_of, events_of(entry, schema))


def digest_object(digest: Digest) -> dict[str, Any]:
    """Return a digest as JSON can hold it; a sketch is base64."""
    first, last = digest.first_time, digest.last_time
    return {
        "stream": digest.stream,
        "epoch": digest.epoch,
        "after": digest.after,
        "upto": digest.upto,
        "count": digest.count,
        "filtered": digest.filtered,
        "first_time": None if first is None else show_time(first),
        "last_time": None if last is None else show_time(last),
        "parts": [_part_object(part) for part in digest.parts],
        **({"gap": digest.gap} if digest.gap else {}),
    }


def _part_object(part: Part) -> dict[str, Any]:
    value: Any = part.value
    name = "value"
    if isinstance(value, bytes):
        name, value = "sketch", base64.b64encode(value).decode()
    elif isinstance(value, float) and not math.isfinite(value):
        # Under a name of its own, or it could not be told from an extreme of texts.
        name, value = "infinite", show_not_finite(value)
    about = {"digester": part.digester, "attribute": part.attribute, "known": part.known}
    rest = {"rest": plain(part.rest)} if part.rest or math.copysign(1, part.rest) < 0 else {}
    return about | {name: value} | rest


def read_digest(found: Any) -> Digest:
    """Return the digest that `digest_object` was given.

    Raises:
        EventError: It is no digest, or it contradicts itself.
    """
    try:
        parts = [_part_fields(part) for part in found.get("parts", ())]
        times = {
            name: microseconds(parse_time(found[name]))
            for name in ("first_time", "last_time")
            if found.get(name) is not None
        }
        digest: Digest = msgspec.convert(
            [
                *[found[name] for name in ("stream", "epoch", "after", "upto", "count")],
                found.get("filtered", 0),
                times.get("first_time"),
                times.get("last_time"),
                parts,
                found.get("gap", 0),
            ],
            Digest,
        )
    except KeyError as error:
        raise EventError(f"a digest without its {error.args[0]}") from None
    except (msgspec.MsgspecError, AttributeError, TypeError) as error:
        raise EventError(f"an object that is no digest: {error}") from None
    check_digest(digest)
    return digest


def _part_fields(part: Mapping[str, Any]) -> list[Any]:
    """Return the fields of a part in their order; whether they are of its types shows later."""
    if "sketch" in part:
        value: Any = read_bytes(part["sketch"])
    elif "infinite" in part:
        value = read_plain(part["infinite"], Type.FLOAT64)
    else:
        value = part["value"]
    rest = read_plain(part.get("rest", 0.0), Type.FLOAT64)
    return [part["digester"], part["attribute"], part["known"], value, rest]


class JsonLines:
    """Reads the records of JSON lines."""

    unit = "line"

    def __init__(self, lines: Lines, schema: Schema | None) -> None:
        """Read from `lines`; with a schema, text becomes the values that it declares."""
        self.types: dict[str, Type] = {}
        self.source = lines
        declared = schema.attributes if schema is not None else ()
        # JSON says of no other attribute that its text stands for bytes.
        self._kinds = {OPAQUE: Type.BYTES} | {one.tag: one.type for one in declared}

    def __iter__(self) -> Iterator[Record]:
        """Yield the record of each line that is not blank.

        Raises:
            TraceError: A line holds no flat JSON object.
        """
        for number, raw in self.source:
            if not raw or raw.isspace():
                continue
            try:
                yield self._record(number, raw)
            except EventError as error:
                raise self.source.trouble(number, str(error)) from None

    def _record(self, number: int, raw: bytes) -> Record:
        found = _object(raw)
        if "_digest" in found:
            if len(found) > 1:
                raise EventError("an object with _digest has nothing beside it")
            return Record(number, {}, read_digest(found["_digest"]))
        if any(isinstance(value, dict) for value in found.values()):
            found = flatten(found)
        for tag, kind in self._kinds.items():
            if tag in found:
                try:
                    found[tag] = read_plain(found[tag], kind)
                except EventError as error:
                    raise EventError(f"attribute {tag}: {error}") from None
        return Record(number, found)


def _object(raw: bytes) -> dict[str, Any]:
    """Return the object that a line holds."""
    if b"\0" in raw:
        raise EventError("a NUL byte: the file is damaged from here, or was never written; cut it")
    try:
        return _DECODER.decode(raw)
    except UnicodeDecodeError as error:
        raise EventError(not_utf8(error)) from None
    except RecursionError:
        raise EventError("objects or lists nested too deep: an event is flat") from None
    except msgspec.MsgspecError as error:
        if _is_halved(raw, str(error)):
            raise EventError(
                "half a character, which no text has: write both halves, such as \\ud83d\\ude00, "
                "or leave it out"
            ) from None
        raise EventError(f"no JSON object: {error}; {_advice(raw, str(error))}") from None


def _is_halved(raw: bytes, reason: str) -> bool:
    """Say whether a half of a character is at fault; the decoder also calls such a line cut."""
    is_whole = raw.rstrip().endswith(b"}")
    return "surrogate" in reason or (is_whole and "truncated" in reason and bool(_HALF.search(raw)))


def _advice(raw: bytes, reason: str) -> str:
    """Say what to do about a line that cannot be read."""
    if _BARE.search(raw):
        return "JSON has no NaN or infinity: write null, or leave the attribute out"
    if "truncated" in reason:
        return "the line is cut short: remove it, or record the stream again"
    if raw.lstrip().startswith(b"["):
        return "one object to a line, not one array: convert it with jq -c '.[]'"
    return 'each line is one event, such as {"PulseRate": 61}'


def flatten(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested objects as attributes: `{"a": {"b": 1}}` as `{"a.b": 1}`.

    Raises:
        EventError: Two attributes get the same tag.
    """
    flat: dict[str, Any] = {}
    # A stack instead of recursion: what comes from outside may nest as deep as JSON lets it.
    waiting = [("", iter(values.items()))]
    while waiting:
        prefix, items = waiting[-1]
        for tag, value in items:
            whole = prefix + tag
            if isinstance(value, dict):
                waiting.append((whole + ".", iter(value.items())))
                break
            if whole in flat:
                raise EventError(f"two attributes of the tag {whole}: rename one")
            flat[whole] = value
        else:
            waiting.pop()
    return flat
