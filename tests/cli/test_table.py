from __future__ import annotations

import pytest

from heliograph.cli.table import percent, seconds, show_table, table_lines


def test_numbers_stand_right_and_texts_left(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(["name", "n", "share"], [["a", 1, "5.0 %"], ["long", 1000, "50.0 %"]])
    assert capsys.readouterr().out.splitlines() == [
        "name     n   share",
        "----  ----  ------",
        "a        1   5.0 %",
        "long  1000  50.0 %",
    ]


def test_a_table_without_rows_is_its_head(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(["name", "n"], [])
    assert capsys.readouterr().out.splitlines() == ["name  n", "----  -"]


def test_nothing_is_an_empty_cell_and_no_blanks_trail(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(["a", "note"], [[1, None], [2, "x"]])
    assert capsys.readouterr().out.splitlines()[2] == "1"


def test_a_table_may_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(["a"], [["b"]], err=True)
    captured = capsys.readouterr()
    assert (captured.out, captured.err.split()) == ("", ["a", "-", "b"])


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (None, "-"),
        (0, "0 ns"),
        (999, "999 ns"),
        (1_500, "1.5 us"),
        (2_000_000, "2 ms"),
        (8_260_000_000, "8.3 s"),
        (999_900_000, "999.9 ms"),
        (59_000_000_000, "59.0 s"),
        (90_000_000_000, "1.5 min"),
        (3_600_000_000_000, "1.0 h"),
        (172_800_000_000_000, "2.0 d"),
    ],
)
def test_a_duration_has_the_unit_that_suits_it(nanoseconds: float | None, text: str) -> None:
    assert seconds(nanoseconds) == text


def test_a_fraction_is_percent() -> None:
    assert percent(0.386) == "38.6 %"


def test_what_others_called_things_commands_no_terminal() -> None:
    lines = table_lines(["na\x1b[31mme"], [["ward\x1b]0;owned\x07/3"], ["a\nb\u202ec"], ["zwölf"]])
    assert all(line.isprintable() for line in lines)
    assert lines[2:] == [r"ward\x1b]0;owned\x07/3", r"a\nb\u202ec", "zwölf"]
