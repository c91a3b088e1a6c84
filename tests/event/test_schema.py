"""Schemas: what is declared, how an open one grows, and how an older version is found again."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.event.errors import EventError, UsageError
from heliograph.event.schema import (
    ATTRIBUTES_MAX,
    OPAQUE,
    RESERVED,
    TAGS_BYTES_MAX,
    Attribute,
    Schema,
)
from heliograph.event.types import WIDER, Type, restore
from strategies import PROPERTY, same, schemas, values_for, values_of


def absorbed(*events: dict[str, Any]) -> tuple[Schema, list[list[Any]]]:
    schema, rows = Schema(), []
    for values in events:
        schema, row = schema.absorb(values)
        rows.append(row)
    return schema, rows


def opaque(schema: Schema, row: list[Any]) -> Any:
    return json.loads(row[schema.index[OPAQUE]])


@PROPERTY
@given(st.data())
def test_a_row_holds_the_values_of_an_event_in_the_order_of_the_schema(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    values = data.draw(values_for(schema))

    row = schema.row(values)

    for one, stored in zip(schema.attributes, row, strict=True):
        assert (stored is None) == (one.tag not in values)
        if stored is not None:
            assert same(restore(stored, one.type), values[one.tag])


@PROPERTY
@given(st.data())
def test_an_open_schema_grows_for_any_event_and_loses_nothing(data: st.DataObject) -> None:
    kinds = st.sampled_from([Type.INT64, Type.FLOAT64, Type.STRING, Type.INT64_LIST, Type.BYTES])
    anything = kinds.flatmap(values_of) | st.just([1, "x"]) | st.just(2**70)
    schema = Schema()
    for values in data.draw(st.lists(st.dictionaries(st.sampled_from("abc"), anything))):
        before = schema
        schema, row = schema.absorb(values)
        held = {tag for tag, place in schema.index.items() if row[place] is not None}
        if OPAQUE in held:
            held |= opaque(schema, row).keys()

        assert held - {OPAQUE} == values.keys()
        assert schema.at(before.version) == before


def test_a_declared_schema_takes_the_names_of_types() -> None:
    schema = Schema.declare({"PulseRate": "int64", "Leads": Type.STRING_LIST})

    assert schema.types == (Type.INT64, Type.STRING_LIST)
    assert schema.declared
    assert schema.type_of("Leads") is Type.STRING_LIST
    assert schema.type_of("Nobody") is None


def test_an_unknown_type_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"'int32' .* the types are bool, int64"):
        Schema.declare({"a": "int32"})


@pytest.mark.parametrize("tag", ["", "x" * 257, *RESERVED])
def test_a_tag_that_no_attribute_may_have_is_refused(tag: str) -> None:
    with pytest.raises(EventError, match="tag"):
        Schema.declare({tag: "int64"})


def test_a_schema_has_each_tag_once_and_not_too_many() -> None:
    with pytest.raises(EventError, match="each tag once"):
        Schema((Attribute("a", Type.INT64), Attribute("a", Type.INT64)))
    with pytest.raises(EventError, match="at most 1024 attributes"):
        Schema.declare({f"a{place}": "int64" for place in range(ATTRIBUTES_MAX + 1)})


def test_a_declared_schema_refuses_what_it_does_not_know() -> None:
    schema = Schema.declare({"a": "int64"})

    with pytest.raises(EventError, match="attribute b is not in the schema"):
        schema.absorb({"b": 1})
    with pytest.raises(EventError, match="attribute a: expected int64, got float"):
        schema.absorb({"a": 1.5})


def test_none_is_absent_also_where_the_schema_does_not_know_the_tag() -> None:
    for schema in (Schema(), Schema.declare({"a": "int64"})):
        same_schema, row = schema.absorb({"a": None, "b": None})

        assert same_schema is schema
        assert row == [None] * len(schema.attributes)


def test_an_integer_then_a_fraction_is_a_float() -> None:
    schema, rows = absorbed({"a": 21}, {"a": 21.5}, {"a": 22}, {"b": [1]}, {"b": [0.5]})

    assert schema.types == (Type.FLOAT64, Type.FLOAT64_LIST)
    assert same(rows[2], [22.0])
    assert schema.at(1).attributes == ()
    assert schema.at(2).types == (Type.INT64,)
    assert schema.at(4).types == (Type.FLOAT64, Type.INT64_LIST)


@pytest.mark.parametrize("unfit", ["text", True, [1], 2**70, {"x": 1}, [1, "x"], [[1]]])
def test_what_fits_nothing_is_carried_as_opaque_json(unfit: Any) -> None:
    schema, rows = absorbed({"a": 1, "b": 1}, {"a": unfit, "b": 2})

    assert schema.type_of("a") is Type.INT64
    assert rows[1][:2] == [None, 2]
    assert opaque(schema, rows[1]) == {"a": unfit}


def test_an_empty_list_fits_a_list_and_is_else_opaque() -> None:
    schema, rows = absorbed({"a": [1]}, {"a": []}, {"b": []})

    assert rows[1] == [[]]
    assert opaque(schema, rows[2]) == {"b": []}


def test_what_was_opaque_before_is_kept_beside_what_becomes_it_now() -> None:
    _, rows = absorbed({"a": 1}, {"a": "x", OPAQUE: b'{"b": 2}'})

    found = json.loads(rows[1][1])
    assert found["a"] == "x"
    assert base64.b64decode(found[OPAQUE]) == b'{"b": 2}'


def test_the_opaque_attribute_is_bytes_only() -> None:
    with pytest.raises(EventError, match="kept for what fits no attribute"):
        Schema().absorb({OPAQUE: "text"})


def test_more_attributes_than_a_schema_may_have_are_opaque() -> None:
    many = {f"a{place}": place for place in range(ATTRIBUTES_MAX + 5)}

    schema, row = Schema().absorb(many)

    assert len(schema.attributes) == ATTRIBUTES_MAX
    assert list(opaque(schema, row)) == list(many)[ATTRIBUTES_MAX - 1 :]


def test_the_place_of_the_opaque_attribute_is_used_for_nothing_else() -> None:
    full = {f"a{place}": place for place in range(ATTRIBUTES_MAX - 1)}
    schema, _ = Schema().absorb(full)

    assert OPAQUE not in schema.index
    schema, row = schema.absorb({"one more": 1})
    assert opaque(schema, row) == {"one more": 1}


@pytest.mark.parametrize(
    ("before", "after"),
    [(old, new) for old in Type for new in Type if old is not new and WIDER.get(old) is not new],
)
def test_an_attribute_changes_its_type_in_no_other_way(before: Type, after: Type) -> None:
    with pytest.raises(EventError, match="may only add attributes and widen"):
        Schema.declare({"a": before}).evolve({"a": after})


def test_a_schema_that_does_not_change_stays_the_same_version() -> None:
    schema = Schema.declare({"a": "int64"})

    assert schema.evolve({"a": Type.INT64}) is schema
    assert schema.evolve({"a": Type.FLOAT64, "b": Type.BOOL}).version == 2


@pytest.mark.parametrize("version", [0, 2, -1])
def test_a_version_that_never_was_is_refused(version: int) -> None:
    with pytest.raises(EventError, match=f"schema version {version} is not known"):
        Schema.declare({"a": "int64"}).at(version)


def test_the_tags_of_a_schema_have_a_bound_together() -> None:
    long = {f"{place:03}" + "x" * 250: place for place in range(200)}
    with pytest.raises(EventError, match="at most 32768 bytes together"):
        Schema.declare(dict.fromkeys(long, "int64"))
    schema, row = Schema().absorb(long)
    assert schema.tags_bytes <= TAGS_BYTES_MAX
    assert len(schema.attributes) == 1 + (TAGS_BYTES_MAX - len(OPAQUE)) // 253
    assert list(opaque(schema, row)) == list(long)[len(schema.attributes) - 1 :]
    again, _ = schema.absorb({"short": 1, "y" * 250: 1})
    assert again.type_of("y" * 250) is None
