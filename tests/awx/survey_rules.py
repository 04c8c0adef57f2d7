# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWX accepts as a survey, and as an answer to one of its questions."""

from __future__ import annotations

from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "text": str,
    "textarea": str,
    "password": str,
    "multiplechoice": str,
    "multiselect": str,
    "integer": int,
    "float": (int, float),
}
_CHOICE = ("multiplechoice", "multiselect")
_KEYS = {
    "question_name",
    "question_description",
    "variable",
    "type",
    "required",
    "default",
    "choices",
    "min",
    "max",
    "new_question",
}


def fault_of(spec: dict[str, Any]) -> str:
    """Return why AWX would refuse a survey; "" if it accepts it."""
    for key, kind in (("name", str), ("description", str), ("spec", list)):
        if not isinstance(spec.get(key), kind):
            return f"{key} is not a {kind.__name__}"
    variables = [question.get("variable") for question in spec["spec"]]
    if not variables or len(variables) != len(set(variables)):
        return f"no questions, or a variable twice: {variables}"
    return next((f"{q.get('variable')}: {fault}" for q in spec["spec"] if (fault := fault_of_question(q))), "")


def fault_of_question(question: dict[str, Any]) -> str:
    """Return why AWX would refuse a question, or would show something else than was meant; "" if neither."""
    unknown = set(question) - _KEYS
    if unknown:
        return f"unknown keys {sorted(unknown)}"
    for key, kind in (("question_name", str), ("variable", str), ("type", str), ("required", bool)):
        if not isinstance(question.get(key), kind):
            return f"{key} is not a {kind.__name__}"
    if question["type"] not in TYPES:
        return f"there is no type {question['type']}"
    for key in ("min", "max"):
        if key in question and (isinstance(question[key], bool) or not isinstance(question[key], int)):
            return f"{key} is not a whole number"
    if question["type"] in _CHOICE and not all(isinstance(c, str) for c in question.get("choices") or [None]):
        return "choices is not a list of strings"
    return fault_of_answer(question, question["default"]) if "default" in question else ""


def fault_of_answer(question: dict[str, Any], answer: Any) -> str:
    """Return why AWX would refuse an answer; "" if it takes it. min and max bound a number, or a text's length."""
    if answer == "":
        return ""
    if isinstance(answer, bool) or not isinstance(answer, TYPES[question["type"]]):
        return f"{answer!r} is not of type {question['type']}"
    if question["type"] in _CHOICE:
        return "" if set(str(answer).splitlines()) <= set(question["choices"]) else f"{answer!r} is none of the choices"
    size = len(answer) if isinstance(answer, str) else answer
    low, high = question.get("min"), question.get("max")
    if (low is not None and size < low) or (high is not None and size > high):
        return f"{answer!r} is not within {low} and {high}"
    return ""
