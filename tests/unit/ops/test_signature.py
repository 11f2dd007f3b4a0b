"""Checking, reading and describing arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import camillo.ops
from camillo.errors import InvalidValue, UnknownName
from camillo.ops.signature import call, json_schema, read_texts, signature, validate
from unit.ops.toys import TOYS, ToyVault


@pytest.mark.promise(25)
def test_an_unknown_operation_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no command named 'fnid'; did you mean 'find'"):
        signature("fnid", TOYS)


@pytest.mark.promise(25)
def test_an_unknown_argument_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="'querry'; did you mean 'query'"):
        validate("find", {"querry": "x"}, TOYS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": "5"}, "k of find must be a whole number from 1 to 50; not '5'"),
        ({"k": 0}, "from 1 to 50; not 0"),
        ({"k": 51}, "from 1 to 50; not 51"),
        ({"k": True}, "a whole number from 1 to 50; not True"),
        ({"k": 2.5}, "a whole number"),
        ({"k": 2**64}, "a whole number"),
        ({"k": None}, "a whole number"),
        ({"min_score": float("nan")}, "a number from 0 to 1"),
        ({"min_score": 10**400}, "a number from 0 to 1"),
        ({"boost": 1}, "boost of find must be true or false; not 1"),
        ({"kind": "note "}, "did you mean 'note'"),
        ({"tags": "a"}, "a list of texts; not 'a'"),
        ({"tags": ["a", 1]}, "a list of texts"),
        ({"query": 3}, "query of find must be text; not 3"),
        ({"query": ["x" * 500]}, r"x\.\.\.$"),
    ],
)
def test_a_wrong_value_is_named_with_what_would_do(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        validate("find", arguments, TOYS)


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(InvalidValue, match="drop needs reason"):
        validate("drop", {"ids": ["a"]}, TOYS)
    with pytest.raises(InvalidValue, match="ids of drop"):
        validate("drop", {"ids": [], "reason": "r"}, TOYS)


def test_values_come_back_in_the_types_of_the_function() -> None:
    checked = validate("find", {"tags": ["a", "b"], "min_score": 1, "k": 3.0, "kind": None}, TOYS)
    assert checked == {"tags": ("a", "b"), "min_score": 1.0, "k": 3, "kind": None}
    assert type(checked["min_score"]) is float
    assert type(checked["k"]) is int


def test_words_are_read_by_type_and_the_last_counts() -> None:
    found = signature("find", TOYS)
    texts = {
        "query": ["7"],
        "k": ["1", "2"],
        "tags": ["a", "b"],
        "boost": ["false"],
        "min_score": ["0.5"],
    }
    assert read_texts(found, texts) == {
        "query": "7",
        "k": 2,
        "tags": ["a", "b"],
        "boost": False,
        "min_score": 0.5,
    }


def test_a_word_that_does_not_read_as_its_type_is_left_for_the_check() -> None:
    found = signature("find", TOYS)
    assert read_texts(found, {"k": ["many"], "boost": ["perhaps"]}) == {
        "k": "many",
        "boost": "perhaps",
    }


def test_the_schema_closes_the_object_and_describes_each_argument() -> None:
    schema = json_schema("find", TOYS)
    assert schema["additionalProperties"] is False
    assert schema["required"] == []
    assert schema["properties"]["k"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 50,
        "description": "How many results.",
        "default": 5,
    }
    assert schema["properties"]["kind"]["enum"] == ["note", "drawer"]
    assert schema["properties"]["tags"]["items"] == {"type": "string"}
    assert json_schema("drop", TOYS)["required"] == ["ids", "reason"]
    assert json.loads(json.dumps(schema)) == schema


_ANY = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text())


@given(
    st.dictionaries(
        st.sampled_from(["query", "k", "kind", "tags", "min_score", "boost", "x"]), _ANY
    )
)
def test_any_arguments_are_refused_or_fit_the_function(arguments: dict[str, Any]) -> None:
    try:
        checked = validate("find", arguments, TOYS)
    except InvalidValue:
        return
    vault = ToyVault([], [])
    call(signature("find", TOYS), vault, checked)
    assert vault.called_with["k"] in range(1, 51)


def test_run_checks_before_it_calls() -> None:
    with pytest.raises(UnknownName, match="did you mean 'shell'"):
        camillo.ops.run(None, "completion", shel="bash")
    report = camillo.ops.run(None, "completion", shell="fish")
    assert "complete -c camillo" in report.as_dict()["script"]
