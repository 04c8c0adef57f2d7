# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label and field selectors, with the complaints of the API server."""

from __future__ import annotations

import pytest

from kubesim import field_selectors, label_selectors
from kubesim.errors import ApiStatus
from kubesim.resources import KINDS

LABELS = {"app": "web", "tier": "front", "size": "3"}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("", True),
        ("app=web", True),
        ("app==web,tier!=back", True),
        ("app!=web", False),
        ("app in (db, web)", True),
        ("app notin (db)", True),
        ("zone notin (a)", True),
        ("zone in (a)", False),
        ("app", True),
        ("!app", False),
        ("!zone", True),
        ("size>2,size<4", True),
        ("size>3", False),
        ("app=", False),
    ],
)
def test_label_selector_matches(selector: str, matches: bool) -> None:
    assert label_selectors.matches(label_selectors.parse(selector), LABELS) is matches


@pytest.mark.parametrize(
    ("selector", "complaint"),
    [
        ("app===x", "unable to parse requirement: found '=', expected: identifier"),
        ("app,", "found '', expected: identifier after ','"),
        ("=x", "found '=', expected: !, identifier, or 'end of string'"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        (
            "a in ()",
            "unable to parse requirement: values: Invalid value: []: "
            "for 'in', 'notin' operators, values set can't be empty",
        ),
    ],
)
def test_broken_label_selector_is_refused_in_the_servers_words(selector: str, complaint: str) -> None:
    with pytest.raises(ApiStatus) as refusal:
        label_selectors.parse(selector)
    assert (refusal.value.code, refusal.value.message) == (400, complaint)


@pytest.mark.parametrize(
    ("selector", "part"), [("@=x", '<nil>: Invalid value: "@"'), ("a=@", 'values[0][a]: Invalid value: "@"')]
)
def test_bad_characters_are_named(selector: str, part: str) -> None:
    with pytest.raises(ApiStatus) as refusal:
        label_selectors.parse(selector)
    assert part in refusal.value.message


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "db"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
    ],
)
def test_selector_object_matches(selector: dict[str, object] | None, matches: bool) -> None:
    assert label_selectors.matches_selector(selector, LABELS) is matches


POD = {
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "x"},
    "spec": {"nodeName": "n"},
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("spec.nodeName=n", True),
        ("spec.nodeName==n,status.phase!=Failed", True),
        ("status.phase=Failed", False),
        ("metadata.namespace=x,metadata.name=a", True),
        ("spec.hostNetwork=false", True),
    ],
)
def test_field_selector_matches(selector: str, matches: bool) -> None:
    assert field_selectors.matches(field_selectors.parse(selector, KINDS["Pod"]), POD) is matches


def test_an_absent_flag_counts_as_false() -> None:
    terms = field_selectors.parse("spec.unschedulable=false", KINDS["Node"])
    assert field_selectors.matches(terms, {"kind": "Node", "metadata": {"name": "n"}, "spec": {}})


@pytest.mark.parametrize(
    ("kind", "selector", "complaint"),
    [
        ("Pod", "spec.hostname=x", "field label not supported: spec.hostname"),
        ("Node", "spec.taints=x", "field label not supported: spec.taints"),
        (
            "Deployment",
            "spec.replicas=1",
            '"spec.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        ("Pod", "spec.nodeName", "invalid selector: 'spec.nodeName'; can't understand 'spec.nodeName'"),
    ],
)
def test_unsupported_field_is_refused_in_the_servers_words(kind: str, selector: str, complaint: str) -> None:
    with pytest.raises(ApiStatus) as refusal:
        field_selectors.parse(selector, KINDS[kind])
    assert (refusal.value.code, refusal.value.message) == (400, complaint)
