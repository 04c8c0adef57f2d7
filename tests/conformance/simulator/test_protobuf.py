# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The protobuf bodies of kubectl's own commands."""

from __future__ import annotations

import pytest
from simulated_api import Api

from kubesim.api import protobuf
from kubesim.errors import ApiStatus


def field(number: int, value: bytes | str | int) -> bytes:
    """Write one field of a message (values below 128 bytes)."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    data = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(data)]) + data


def body(api_version: str, kind: str, raw: bytes) -> bytes:
    """Write the envelope around an object."""
    return b"k8s\x00" + field(1, field(1, api_version) + field(2, kind)) + field(2, raw)


REVIEW = field(2, field(1, field(1, "default") + field(2, "create") + field(5, "pods") + field(6, "eviction")))


def test_an_access_review_is_read() -> None:
    read = protobuf.decoded(body("authorization.k8s.io/v1", "SelfSubjectAccessReview", REVIEW))
    attributes = {"namespace": "default", "verb": "create", "resource": "pods", "subresource": "eviction"}
    assert read["spec"] == {"resourceAttributes": attributes}


def test_an_access_review_is_answered() -> None:
    sent = body("authorization.k8s.io/v1", "SelfSubjectAccessReview", REVIEW)
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    answer = Api().send("POST", path, sent, content_type="application/vnd.kubernetes.protobuf")
    assert answer.json()["status"] == {"allowed": True}


def test_maps_lists_and_numbers_are_read() -> None:
    labels = field(11, field(1, "app") + field(2, "web"))
    container = field(1, "c") + field(2, "i:1") + field(3, "sleep") + field(3, "1")
    raw = field(1, field(1, "web") + labels) + field(2, field(1, 3) + field(3, field(2, field(2, container))))
    read = protobuf.decoded(body("apps/v1", "Deployment", raw))
    shown = (
        read["metadata"]["labels"],
        read["spec"]["replicas"],
        read["spec"]["template"]["spec"]["containers"][0]["command"],
    )
    assert shown == ({"app": "web"}, 3, ["sleep", "1"])


def test_a_percentage_is_read() -> None:
    raw = field(2, field(1, field(1, 1) + field(3, "50%")))
    assert protobuf.decoded(body("policy/v1", "PodDisruptionBudget", raw))["spec"]["minAvailable"] == "50%"


def test_unknown_fields_are_passed_over() -> None:
    raw = field(1, field(1, "x") + field(99 & 15, "ignored"))
    assert protobuf.decoded(body("v1", "Namespace", raw))["metadata"]["name"] == "x"


@pytest.mark.parametrize(
    ("sent", "code"),
    [(b"{}", 400), (b"k8s\x00\x0a\xff", 400), (body("v1", "Secret", b""), 415)],
    ids=["json", "cut", "kind"],
)
def test_other_bodies_are_refused(sent: bytes, code: int) -> None:
    with pytest.raises(ApiStatus) as refusal:
        protobuf.decoded(sent)
    assert refusal.value.code == code
