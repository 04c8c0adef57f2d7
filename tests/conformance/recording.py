# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recorded answers of a real API server, and the starting state that they belong to."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from kubesim.api.access import Access
from kubesim.api.messages import Request, Response
from kubesim.cluster import Cluster

RECORDING = json.loads((Path(__file__).parent / "wire.json").read_text(encoding="utf-8"))
EXCHANGES: list[dict[str, Any]] = RECORDING["exchanges"]
LIMITED = ("forbidden-list", "evict-forbidden", "ssar-denied", "ssrr-limited")
UNKNOWN = ("unauthorized",)

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NO_UID = "00000000-0000-0000-0000-000000000000"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_TOO_OLD = re.compile(r"too old resource version: 1 \(\d+\)")
_QUOTED_OBJECT = re.compile(r"\{.*\}")
_VARIABLE = ("resourceVersion", "uid", "creationTimestamp", "deletionTimestamp", "pod-template-hash", "generateName")


def _node(name: str) -> dict[str, Any]:
    recorded = next(e for e in EXCHANGES if e["name"] == "node-get")["response"]
    meta = {**recorded["metadata"], "labels": {**recorded["metadata"]["labels"], "kubernetes.io/hostname": name}}
    return {**recorded, "metadata": {**meta, "name": name, "uid": f"uid-of-{name}"}}


def _deployment(app: str, replicas: int) -> dict[str, Any]:
    annotations = {"fake/start": "0.1", "fake/term": "1"}
    spec = {
        "containers": [{"name": "app", "image": "registry.example/app:1"}],
        "nodeSelector": {"kubernetes.io/hostname": "node-1"},
    }
    template = {"metadata": {"labels": {"app": app}, "annotations": annotations}, "spec": spec}
    return {
        "metadata": {"name": app, "labels": {"app": app}},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": app}}, "template": template},
    }


def _budget(name: str, app: str, **limit: int) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {**limit, "selector": {"matchLabels": {"app": app}}}}


class Replay:
    """The starting state of the recording on a simulated cluster with its controllers, and what changes it."""

    def __init__(self) -> None:
        access = Access()
        access.grant({"tokens": {"limited": {"user": "limited-user", "rules": []}}})
        self.cluster = Cluster(access=access)
        self.cluster.load([_node(f"node-{number}") for number in range(4)])
        self.post("/api/v1/namespaces", {"metadata": {"name": "wire"}})
        for app, replicas in (("web", 3), ("db", 1), ("two", 1)):
            self.post("/apis/apps/v1/namespaces/wire/deployments", _deployment(app, replicas))
        for name, app, least in (("db-pdb", "db", 1), ("x1", "two", 0), ("x2", "two", 0)):
            self.post_budget(_budget(name, app, minAvailable=least))
        self.cluster.agenda.advance(20)
        self.cluster.history.shrink(0)  # the recorded server had forgotten its first events
        self.cluster.history.shrink(10_000)
        self._names = self._pod_names()

    def post(self, path: str, body: dict[str, Any]) -> None:
        """Create something as administrator."""
        answer = self.cluster.perform({"method": "POST", "path": path, "body": body})
        assert answer.status == 201, answer.body

    def post_budget(self, body: dict[str, Any]) -> None:
        """Create a budget in the namespace of the recording."""
        self.post("/apis/policy/v1/namespaces/wire/poddisruptionbudgets", body)

    def prepare(self, name: str) -> None:
        """Do what happened between the requests of the recording; those that concern the node took a moment each."""
        if name.startswith("node-"):
            self.cluster.agenda.advance(0.1)
        if name == "evict-budget-not-processed":
            self.post_budget(_budget("fresh", "web", maxUnavailable=1))
            self.cluster.agenda.advance(0.05)
        if name == "create-in-terminating-namespace":
            self.cluster.perform({"method": "DELETE", "path": "/api/v1/namespaces/wire"})

    def send(self, exchange: dict[str, Any], after: Response | None) -> Response:
        """Send a recorded request; `after` is the answer before it, whose continue token is taken over."""
        token = "wrong" if exchange["name"] in UNKNOWN else "limited" if exchange["name"] in LIMITED else "admintoken"
        path = self.renamed(exchange["path"])
        if "continue=eyJ" in path and after is not None:
            path = re.sub(r"continue=[^&]*", "continue=" + quote(after.json()["metadata"]["continue"]), path)
        path = re.sub(r"resourceVersion=169\d\d", f"resourceVersion={self.cluster.store.resource_version}", path)
        headers = {"authorization": f"Bearer {token}", "accept": exchange.get("accept") or "*/*"}
        if exchange.get("content_type"):
            headers["content-type"] = exchange["content_type"]
        body = exchange.get("request")
        sent = None if body is None else json.loads(self.renamed(json.dumps(body)))
        return self.cluster.answer(Request.of(exchange["method"], path, sent, **headers))

    def renamed(self, text: str) -> str:
        """Put our pods' names in the place of the recorded ones."""
        for recorded, ours in self._names.items():
            text = text.replace(recorded, ours)
        return text

    def generalised(self, value: Any) -> Any:
        """Take what differs from cluster to cluster out of an answer: names of pods, uids, times, versions, hashes."""
        if isinstance(value, dict):
            return {key: self._field(key, item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.generalised(item) for item in value]
        if isinstance(value, str):
            return self._text(value)
        return value

    def _field(self, key: str, item: Any) -> Any:
        if key in _VARIABLE:
            return f"<{key}>"
        if key == "continue":
            token = json.loads(base64.urlsafe_b64decode(item + "=" * (-len(item) % 4)))
            return {**token, "rv": "<version>", "start": self._text(token["start"])}
        if key == "gitCommit":
            return "<commit>"
        return self.generalised(item)

    def _text(self, text: str) -> str:
        for recorded, ours in self._names.items():
            app = ours.split("-")[0]
            text = text.replace(recorded, f"<pod of {app}>").replace(ours, f"<pod of {app}>")
        for recorded, ours in self._names.items():
            for name in (recorded, ours):
                text = text.replace(name.rsplit("-", 1)[0], f"<set of {ours.split('-')[0]}>")
        text = _TOO_OLD.sub("too old resource version: 1 (<version>)", _TIME.sub("<time>", text))
        return _UID.sub(lambda found: found[0] if found[0] == _NO_UID else "<uid>", _QUOTED_OBJECT.sub("{...}", text))

    def _pod_names(self) -> dict[str, str]:
        found = re.findall(r"(?:db|two|web)-[a-z0-9]{8,10}-[a-z0-9]{5}", unquote(json.dumps(EXCHANGES)))
        names: dict[str, str] = {}
        for app in ("db", "two", "web"):
            recorded = sorted({name for name in found if name.startswith(app)})
            ours = [
                p["metadata"]["name"]
                for p in self.cluster.store.list("Pod", "wire")
                if p["metadata"]["labels"]["app"] == app
            ]
            names.update(zip(recorded, ours, strict=True))
        return names
