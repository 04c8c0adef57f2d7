# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of rollouts create on the cluster and change by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stage import Scene

REVISION = "deployment.kubernetes.io/revision"
Object = dict[str, Any]
COMPLETE = {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}


def deployment(name: str = "web", wanted: int = 2, generation: int = 1, **status: Any) -> Object:
    """Return a Deployment as its controller left it; without more status it was just observed and has no pods."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "generation": generation,
            "labels": {"app": name},
            "annotations": {REVISION: "1"},
        },
        "spec": {
            "replicas": wanted,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "app", "image": "i:1"}]},
            },
        },
        "status": {"observedGeneration": generation, **status},
    }


def still(*objects: Object) -> Scene:
    """Return a cluster without controllers: only the test changes it."""
    return Scene(*objects, controllers=False)


def later(
    scene: Scene, seconds: float, change: Callable[[Object], None], name: str = "web", kind: str = "Deployment"
) -> None:
    """Change an object after some seconds."""
    scene.agenda.after(seconds, lambda: scene.store.mutate(kind, "default", name, change))


def status(**fields: Any) -> Callable[[Object], None]:
    """Return a change of an object's status; None removes a field."""

    def change(obj: Object) -> None:
        for key, value in fields.items():
            if value is None:
                obj["status"].pop(key, None)
            else:
                obj["status"][key] = value

    return change


def progressing(reason: str, state: str = "True") -> list[Object]:
    """Return the conditions of a Deployment with this reason of progress."""
    return [{"type": "Progressing", "status": state, "reason": reason}]


def paths(scene: Scene) -> list[str]:
    """Return the requests in short: method, resource, and whether it was a watch."""
    return [
        " ".join(
            [request.method, request.path.split("/default/")[-1], *(["watch"] if "watch" in request.query else [])]
        )
        for request in scene.cluster.requests
    ]


def changed(scene: Scene, kind: str, change: Callable[[Object], None], name: str = "web") -> None:
    """Change a workload now, as a user who rolls it out does."""
    scene.store.mutate(kind, "default", name, change)


def image(reference: str) -> Callable[[Object], None]:
    """Return a change of a template's image."""
    return lambda obj: obj["spec"]["template"]["spec"]["containers"][0].update(image=reference)


def noted(**notes: str) -> Callable[[Object], None]:
    """Return a change of a template's annotations that make the simulated kubelet fail in some way."""

    def change(obj: Object) -> None:
        made = obj["spec"]["template"]["metadata"].setdefault("annotations", {})
        made.update({"fake/" + key: value for key, value in notes.items()})

    return change


def rule(verbs: list[str], resource: str = "deployments", group: str = "apps", **more: Any) -> Object:
    """Return a rule of a role."""
    return {"apiGroups": [group], "resources": [resource], "verbs": verbs, **more}


def granted(scene: Scene, *rules: Object) -> None:
    """Run the task as an account that has only these rights."""
    scene.cluster.access.grant({"tokens": {"limited": {"user": "limited", "groups": [], "rules": list(rules)}}})
    scene.connection.token = "limited"
