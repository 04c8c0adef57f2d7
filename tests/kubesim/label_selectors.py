# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label selectors as text (with the API server's complaints) and as objects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import errors

_SYMBOLS = {"(", ")", ",", "!", "=", "==", "!=", ">", "<"}
_SPECIAL = "=!(),><"
_WORDS = ("in", "notin")
_BINARY = "in, notin, =, ==, !=, gt, lt"
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_NAME_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and "
    "must start and end with an "
    "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


@dataclass(frozen=True)
class Requirement:
    """One condition on labels; operator is in, notin, =, ==, !=, exists, !, gt or lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether the labels meet it."""
        has = self.key in labels
        if self.operator == "exists":
            return has
        if self.operator == "!":
            return not has
        if self.operator in ("in", "=", "=="):
            return has and labels[self.key] in self.values
        if self.operator in ("notin", "!="):
            return not has or labels[self.key] not in self.values
        try:
            given, limit = int(labels[self.key]), int(self.values[0])
        except (KeyError, ValueError):
            return False
        return given > limit if self.operator == "gt" else given < limit


class _Complaint(Exception):
    pass


def parse(text: str) -> list[Requirement]:
    """Read a label selector; ApiStatus 400 in the words of the API server when it is none."""
    try:
        return _Parser(text).parse()
    except _Complaint as problem:
        raise errors.bad_request(str(problem)) from None


def matches(requirements: list[Requirement], labels: Mapping[str, str] | None) -> bool:
    """Return whether the labels meet every requirement."""
    return all(requirement.matches(labels or {}) for requirement in requirements)


def matches_selector(selector: Mapping[str, Any] | None, labels: Mapping[str, str] | None) -> bool:
    """Return whether labels meet a LabelSelector object; None matches nothing, an empty one everything (policy/v1)."""
    if selector is None:
        return False
    labels = labels or {}
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    operators = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
    return all(
        Requirement(item["key"], operators[item["operator"]], tuple(item.get("values") or ())).matches(labels)
        for item in selector.get("matchExpressions") or ()
    )


def key_problem(key: str) -> str | None:
    """Return what is wrong with a label key, None when it is fine."""
    prefix, slash, name = key.rpartition("/")
    if slash and not (prefix and _SUBDOMAIN.fullmatch(prefix)):
        return (
            "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
            "or '.', and must start "
            "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
            r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        )
    if not name:
        return "name part must be non-empty"
    if len(name) > 63:
        return "name part must be no more than 63 bytes"
    return None if _NAME.fullmatch(name) else _NAME_RULE


def value_problem(value: str) -> str | None:
    """Return what is wrong with a label value, None when it is fine."""
    if len(value) > 63:
        return "must be no more than 63 bytes"
    return None if _VALUE.fullmatch(value) else _VALUE_RULE


class _Parser:
    """Recursive descent over tokens, with the same lookahead and complaints as apimachinery's labels.Parse."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = list(_tokens(text))
        self.at = 0

    def peek(self) -> tuple[str, str]:
        """Return (kind, literal) of the next token; kind is id, end or a symbol."""
        return self.tokens[self.at]

    def take(self) -> tuple[str, str]:
        """Return the next token and step over it."""
        token = self.tokens[self.at]
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def parse(self) -> list[Requirement]:
        """Read comma-separated requirements to the end."""
        found: list[Requirement] = []
        while True:
            kind, literal = self.peek()
            if kind == "end":
                return found
            if kind not in ("id", "!"):
                raise _Complaint(f"found '{literal}', expected: !, identifier, or 'end of string'")
            try:
                found.append(self.requirement())
            except _Complaint as problem:
                raise _Complaint(f"unable to parse requirement: {problem}") from None
            kind, literal = self.take()
            if kind == "end":
                return found
            if kind != ",":
                raise _Complaint(f"found '{literal}', expected: ',' or 'end of string'")
            kind, literal = self.peek()
            if kind not in ("id", "!"):
                raise _Complaint(f"found '{literal}', expected: identifier after ','")

    def requirement(self) -> Requirement:
        """Read one requirement."""
        kind, literal = self.take()
        negated = kind == "!"
        if negated:
            kind, literal = self.take()
        if kind != "id":
            raise _Complaint(f"found '{literal}', expected: identifier")
        key = literal
        problem = key_problem(key)
        if problem:
            raise _Complaint(f'<nil>: Invalid value: "{key}": {problem}')
        if negated:
            return Requirement(key, "!")
        if self.peek()[0] in ("end", ","):
            return Requirement(key, "exists")
        return self.binary(key)

    def binary(self, key: str) -> Requirement:
        """Read operator and values that follow a key."""
        kind, literal = self.take()
        operator = literal if kind == "id" and literal in _WORDS else {">": "gt", "<": "lt"}.get(kind, kind)
        if operator not in ("in", "notin", "=", "==", "!=", "gt", "lt"):
            raise _Complaint(f"found '{literal}', expected: {_BINARY}")
        values = self.set_values() if operator in _WORDS else self.exact_value()
        if operator in _WORDS and not values:
            raise _Complaint("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty")
        if operator in ("gt", "lt") and not re.fullmatch(r"-?\d+", values[0]):
            raise _Complaint(
                f"values[0]: Invalid value: \"{values[0]}\": for 'Gt', 'Lt' operators, the value must be an integer"
            )
        for index, value in enumerate(values):
            problem = value_problem(value)
            if problem:
                raise _Complaint(f'values[{index}][{key}]: Invalid value: "{value}": {problem}')
        return Requirement(key, operator, values)

    def exact_value(self) -> tuple[str, ...]:
        """Read the value after =, ==, !=, > or <."""
        if self.peek()[0] in ("end", ","):
            return ("",)
        kind, literal = self.take()
        if kind != "id":
            raise _Complaint(f"found '{literal}', expected: identifier")
        return (literal,)

    def set_values(self) -> tuple[str, ...]:
        """Read the values after in or notin."""
        kind, literal = self.take()
        if kind != "(":
            raise _Complaint(f"found '{literal}' expected: '('")
        kind, literal = self.peek()
        if kind == ")":
            self.take()
            return ()
        if kind not in ("id", ","):
            raise _Complaint(f"found '{literal}', expected: ',', ')' or identifier")
        values: set[str] = set()
        expect_value = True
        while True:
            kind, literal = self.take()
            if kind == "id" and expect_value:
                values.add(literal)
                expect_value = False
            elif kind == ",":
                if expect_value:
                    values.add("")
                expect_value = True
            elif kind == ")":
                if expect_value:
                    values.add("")
                return tuple(sorted(values))
            elif expect_value:
                raise _Complaint(f"found '{literal}', expected: ',', or identifier")
            else:
                raise _Complaint(f"found '{literal}', expected: ',' or ')'")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        char = text[at]
        if char in " \t\r\n":
            at += 1
        elif char in _SPECIAL:
            symbol = text[at : at + 2] if text[at : at + 2] in _SYMBOLS else char
            yield symbol, symbol
            at += len(symbol)
        else:
            end = at
            while end < len(text) and text[end] not in _SPECIAL + " \t\r\n":
                end += 1
            yield "id", text[at:end]
            at = end
    yield "end", ""
