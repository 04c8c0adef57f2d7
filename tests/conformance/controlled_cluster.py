# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small cluster that a test advances by hand."""

from __future__ import annotations

from kubesim import builders
from kubesim.agenda import TEST_EPOCH, Agenda
from kubesim.controllers.wiring import Controllers
from kubesim.objects import Object, is_pod_ready
from kubesim.store import Store

SETTLING_SECONDS = 5.0


class ControlledCluster:
    """Store, clock and controllers, with nodes node-0, node-1..."""

    def __init__(self, *objects: Object, nodes: int = 3) -> None:
        self.agenda = Agenda(TEST_EPOCH)
        self.store = Store(self.agenda)
        self.controllers = Controllers(self.store, self.agenda)
        self.store.load([builders.node(f"node-{number}") for number in range(nodes)])
        self.load(*objects)

    def load(self, *objects: Object) -> None:
        """Take objects in and let the controllers come to rest."""
        self.store.load(list(objects))
        self.agenda.advance(SETTLING_SECONDS)

    def get(self, kind: str, name: str, namespace: str | None = "default") -> Object:
        """Return an object that must exist."""
        found = self.store.get(kind, None if kind in ("Node", "Namespace") else namespace, name)
        assert found is not None, f"no {kind} {name}"
        return found

    def status(self, kind: str, name: str) -> Object:
        """Return its status without its conditions."""
        return {key: value for key, value in self.get(kind, name)["status"].items() if key != "conditions"}

    def condition(self, kind: str, name: str, condition: str) -> tuple[str, str]:
        """Return status and reason of one of its conditions."""
        found = next(c for c in self.get(kind, name)["status"]["conditions"] if c["type"] == condition)
        return found["status"], found.get("reason", "")

    def names(self, kind: str) -> list[str]:
        """Return the names of all objects of a kind."""
        return [obj["metadata"]["name"] for obj in self.store.list(kind)]

    def pods(self, node: str | None = None) -> list[Object]:
        """Return the pods that are not going away, of one node or of all."""
        return [
            pod
            for pod in self.store.list("Pod")
            if not pod["metadata"].get("deletionTimestamp") and node in (None, pod["spec"].get("nodeName"))
        ]

    def ready(self) -> list[str]:
        """Return the names of the pods that are ready and not going away."""
        return [pod["metadata"]["name"] for pod in self.pods() if is_pod_ready(pod)]

    def set_image(self, kind: str, name: str, image: str) -> None:
        """Change the template of a workload."""
        self.store.mutate(
            kind, "default", name, lambda obj: obj["spec"]["template"]["spec"]["containers"][0].update(image=image)
        )

    def delete(self, pod: Object | str, grace: int | None = None) -> None:
        """Delete a pod."""
        name = pod if isinstance(pod, str) else pod["metadata"]["name"]
        self.store.delete("Pod", "default", name, grace=grace)

    def cordon(self, node: str, unschedulable: bool = True) -> None:
        """Cordon or uncordon a node."""
        self.store.mutate("Node", None, node, lambda obj: obj["spec"].update(unschedulable=unschedulable))
