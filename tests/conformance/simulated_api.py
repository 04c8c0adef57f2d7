# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated API server without controllers, as a test talks to it."""

from __future__ import annotations

import json
from typing import Any

from kubesim.api.access import ADMIN_TOKEN, Access
from kubesim.api.messages import Request, Response
from kubesim.cluster import Cluster
from kubesim.objects import Object

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"


class Api:
    """Send requests as one user; the clock stands still until the test advances it."""

    def __init__(self, *objects: Object, token: str = ADMIN_TOKEN, **options: Any) -> None:
        self.cluster = Cluster(controllers=False, **options)
        self.cluster.load(list(objects))
        self.token = token

    def send(self, method: str, target: str, body: Any = None, **headers: str) -> Response:
        """Send a request and return the answer."""
        named = {"authorization": f"Bearer {self.token}", **headers}
        return self.cluster.answer(Request.of(method, target, body, **named))

    def get(self, target: str, **headers: str) -> Any:
        """Return the decoded answer of a GET that must succeed."""
        answer = self.send("GET", target, **headers)
        assert answer.status == 200, answer.body
        return answer.json()

    def names(self, target: str) -> list[str]:
        """Return the names in a list."""
        return [item["metadata"]["name"] for item in self.get(target)["items"]]

    def patch(self, target: str, body: Any, content_type: str = MERGE) -> Response:
        """Send a PATCH."""
        return self.send("PATCH", target, body, content_type=content_type)

    def refused(self, method: str, target: str, body: Any = None, **headers: str) -> tuple[int, str]:
        """Return code and message of a refusal."""
        status = self.send(method, target, body, **headers).json()
        assert status["status"] == "Failure"
        return status["code"], status["message"]

    def evict(self, pod: str, namespace: str = "default", **options: Any) -> Response:
        """Evict a pod."""
        body: Object = {"metadata": {"name": pod, "namespace": namespace}}
        if options:
            body["deleteOptions"] = options
        return self.send("POST", f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction", body)

    def watch(self, target: str) -> Watch:
        """Open a watch."""
        return Watch(self.send("GET", target))

    def exists(self, kind: str, name: str, namespace: str = "default") -> bool:
        """Return whether an object is stored."""
        return self.cluster.store.get(kind, namespace, name) is not None


class Watch:
    """A stream of events, as a test reads it."""

    def __init__(self, answer: Response) -> None:
        assert answer.stream is not None
        self.stream = answer.stream

    def events(self) -> list[Any]:
        """Return the events that have come since the last look."""
        return [json.loads(line) for line in self.stream.poll()]

    def seen(self) -> list[tuple[str, str]]:
        """Return type and name of those events."""
        return [(event["type"], event["object"]["metadata"].get("name", "")) for event in self.events()]

    @property
    def closed(self) -> bool:
        """Return whether the server has ended it."""
        return self.stream.closed


def access_of(**rules: Any) -> Access:
    """Return access with a token per user, named after the user; values are the user's rules."""
    access = Access()
    access.grant({"tokens": {name: {"user": name, "rules": allowed} for name, allowed in rules.items()}})
    return access
