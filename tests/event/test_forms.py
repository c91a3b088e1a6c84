"""Which form a trace has."""

from __future__ import annotations

import gzip
import io
from typing import TYPE_CHECKING

import pytest

from heliograph.event.csv import CsvRecords
from heliograph.event.errors import TraceError
from heliograph.event.forms import open_form
from heliograph.event.jsonl import JsonLines
from heliograph.event.parquet import ParquetRecords, ParquetWriter
from heliograph.event.schema import Schema

if TYPE_CHECKING:
    from pathlib import Path

    from heliograph.event.forms import Reader


class Stdin:
    """What `sys.stdin` is while a test runs."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def form_of(path: Path | str) -> type[Reader]:
    reader, source = open_form(path, None)
    source.close()
    return type(reader)


@pytest.mark.parametrize(
    ("name", "data", "form"),
    [
        ("a.csv", b"{\n1\n", CsvRecords),
        ("a.CSV", b"a\n1\n", CsvRecords),
        ("a.jsonl", b'{"a":1}', JsonLines),
        ("a.ndjson", b'{"a":1}', JsonLines),
        ("a.json", b'{"a":1}', JsonLines),
        ("a.log", b'\n  {"a":1}', JsonLines),
        ("a.log", b'\xef\xbb\xbf{"a":1}', JsonLines),
        ("a", b"a,b\n1,2\n", CsvRecords),
        ("a", b"[1]", JsonLines),
    ],
)
def test_the_form_follows_the_ending_and_else_the_first_byte(
    tmp_path: Path, name: str, data: bytes, form: type
) -> None:
    (tmp_path / name).write_bytes(data)

    assert form_of(tmp_path / name) is form


def test_parquet_is_known_by_its_ending_or_its_first_bytes(tmp_path: Path) -> None:
    for name in ("a.parquet", "a.data"):
        ParquetWriter(tmp_path / name, Schema.declare({"a": "int64"})).close()
        assert form_of(tmp_path / name) is ParquetRecords


@pytest.mark.parametrize(("data", "form"), [(b'{"a":1}', JsonLines), (b"a\n1\n", CsvRecords)])
def test_the_form_of_standard_input_follows_its_first_byte(
    monkeypatch: pytest.MonkeyPatch, data: bytes, form: type
) -> None:
    monkeypatch.setattr("sys.stdin", Stdin(data))

    assert form_of("-") is form


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PAR1xxxx", "Parquet is read from its end: save it to a file"),
        (b"", "standard input is empty"),
        (gzip.compress(b"a\n1\n", mtime=0), "standard input is compressed: read it through zcat"),
    ],
)
def test_standard_input_that_cannot_be_read_is_refused(
    monkeypatch: pytest.MonkeyPatch, data: bytes, words: str
) -> None:
    monkeypatch.setattr("sys.stdin", Stdin(data))

    with pytest.raises(TraceError, match=words):
        open_form("-", None)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a"])
@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_an_empty_file_is_refused(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)

    with pytest.raises(TraceError, match=r"is empty|cannot be read as Parquet"):
        open_form(tmp_path / name, None)


def test_a_file_that_cannot_be_opened_is_refused_with_the_reason(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.touch(mode=0)

    with pytest.raises(TraceError, match=r"no.csv cannot be read: No such file or directory"):
        open_form(tmp_path / "no.csv", None)
    with pytest.raises(TraceError, match="cannot be read: Is a directory"):
        open_form(tmp_path, None)
    with pytest.raises(TraceError, match=r"Permission denied|is empty"):  # Root may read it.
        open_form(secret, None)


def test_parquet_without_pyarrow_is_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ParquetWriter(tmp_path / "a.parquet", Schema()).close()
    monkeypatch.setitem(__import__("sys").modules, "heliograph.event.parquet", None)

    with pytest.raises(TraceError, match="pip install 'heliograph"):
        open_form(str(tmp_path / "a.parquet"), None)


def test_a_form_that_is_said_is_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b'{"a":1}')
    reader, source = open_form(tmp_path / "a.csv", None, "jsonl")
    source.close()
    assert isinstance(reader, JsonLines)
