# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look on while a client works: note when objects came into a certain state, as the API server tells everybody."""

from __future__ import annotations

import json
import ssl
import threading
import time
import urllib.request
from collections.abc import Callable
from typing import Any

from embedded_cluster import SELF, TOKEN, EmbeddedCluster

_CONNECT_SECONDS = 30.0


class Onlooker(threading.Thread):
    """A watch of `path` in bench that ends by itself, after `seconds` or when `expected` objects are so far.

    times: for each name when it was first seen in the state, as time.time() says.
    """

    def __init__(
        self, cluster: EmbeddedCluster, path: str, is_so_far: Callable[[Any], bool], expected: int, seconds: int
    ) -> None:
        super().__init__(daemon=True)
        self.times: dict[str, float] = {}
        self._is_so_far = is_so_far
        self._expected = expected
        joint = "&" if "?" in path else "?"
        address = f"{cluster.url}{path}{joint}watch=true&timeoutSeconds={seconds}"
        self._request = urllib.request.Request(
            address, headers={"Authorization": f"Bearer {TOKEN}", "User-Agent": SELF}
        )
        secure = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=str(cluster.ca)))
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), secure)
        self._patience = seconds + _CONNECT_SECONDS

    def run(self) -> None:
        with self._opener.open(self._request, timeout=self._patience) as stream:
            for line in stream:
                seen = time.time()
                obj = json.loads(line)["object"]
                if self._is_so_far(obj):
                    self.times.setdefault(obj["metadata"]["name"], seen)
                if len(self.times) == self._expected:
                    return

    def result(self) -> list[float]:
        """Return the times in their order, SystemExit if not all objects got so far."""
        self.join(self._patience)
        if len(self.times) != self._expected:
            raise SystemExit(f"Of {self._expected} objects in the state that is measured, {len(self.times)} were seen.")
        return sorted(self.times.values())


def is_rolled_out(deployment: Any) -> bool:
    """Return whether a Deployment's rollout is complete."""
    wanted, status = deployment["spec"].get("replicas", 1), deployment.get("status") or {}
    counts = [status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")]
    is_observed = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    return bool(is_observed and counts == [wanted] * 3)


def is_refused(pod: Any) -> bool:
    """Return whether the kubelet has reported that an image of a pod cannot be pulled."""
    waiting = [one["state"].get("waiting") or {} for one in pod.get("status", {}).get("containerStatuses") or ()]
    return any(state.get("reason") in ("ErrImagePull", "ImagePullBackOff") for state in waiting)
