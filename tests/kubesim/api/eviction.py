# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The eviction subresource. Rules and words: pkg/registry/core/pod/storage/eviction.go of Kubernetes 1.36."""

from __future__ import annotations

from .. import errors, label_selectors
from ..agenda import timestamp
from ..objects import Object, is_pod_ready, is_terminating, set_condition
from ..resources import KINDS
from ..store import Store
from . import bodies
from .bodies import DeleteOptions
from .messages import Request, Response, json_response
from .paths import Target
from .writes import Writes, check_preconditions

_BLOCKED = "Cannot evict pod as it would violate the pod's disruption budget."
_TWO_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
_MOST_DISRUPTED = 2000
_RETRY_SECONDS = 10


class Eviction:
    """Answer POSTs to pods/eviction."""

    def __init__(self, store: Store, writes: Writes) -> None:
        self._store = store
        self._writes = writes

    def create(self, request: Request, target: Target) -> Response:
        """Evict a pod if its budget allows it."""
        body = bodies.decoded(request)
        if not isinstance(body, dict) or body.get("kind", "Eviction") != "Eviction":
            raise errors.bad_request("the object provided is unrecognized (must be of type Eviction)")
        if str(body.get("apiVersion", "policy/v1")) not in ("policy/v1", "policy/v1beta1"):
            message = f'no kind "Eviction" is registered for version "{body["apiVersion"]}" in scheme'
            raise errors.bad_request(message)
        if (body.get("metadata") or {}).get("name") != target.name:
            raise errors.bad_request("name in URL does not match name in Eviction object")
        options = self._options(request, body)
        pod = self._store.get("Pod", target.namespace, target.name)
        if pod is None:
            raise errors.not_found("pods", target.name)
        self._writes.admit(target, KINDS["Pod"], target.name)
        if not _needs_no_budget(pod):
            refused = self._consult_budget(pod, options)
            if refused is not None:
                return refused
        self._evict(pod, options)
        return json_response(
            201, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
        )

    @staticmethod
    def _options(request: Request, body: Object) -> DeleteOptions:
        given = body.get("deleteOptions") or {}
        preconditions = given.get("preconditions") or {}
        return DeleteOptions(
            given.get("gracePeriodSeconds"),
            given.get("propagationPolicy") or "",
            preconditions.get("uid") or "",
            preconditions.get("resourceVersion") or "",
            bodies.is_dry_run(request, given.get("dryRun"), "DeleteOptions"),
        )

    def _consult_budget(self, pod: Object, options: DeleteOptions) -> Response | None:
        budgets = self._budgets_of(pod)
        if len(budgets) > 1:
            # The API server answers with a Status that it made by hand: it has no reason.
            return json_response(500, errors.ApiStatus(500, None, _TWO_BUDGETS).body())
        if not budgets:
            return None
        budget = budgets[0]
        if not is_pod_ready(pod) and _lets_unready_pods_go(budget):
            return None
        self._record_disruption(budget, pod, options.dry_run)
        return None

    def _budgets_of(self, pod: Object) -> list[Object]:
        meta = pod["metadata"]
        labels = meta.get("labels")
        if not labels:
            return []
        budgets = self._store.list("PodDisruptionBudget", meta["namespace"])
        return [b for b in budgets if label_selectors.matches_selector((b.get("spec") or {}).get("selector"), labels)]

    def _record_disruption(self, budget: Object, pod: Object, dry_run: bool) -> None:
        name, status = budget["metadata"]["name"], budget.get("status") or {}
        if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
            raise _blocked(f"The disruption budget {name} is still being processed by the server.", _RETRY_SECONDS)
        allowed = status.get("disruptionsAllowed", 0)
        if allowed < 0:
            raise errors.forbidden("poddisruptionbudget", name, "pdb disruptions allowed is negative", "policy")
        if len(status.get("disruptedPods") or ()) > _MOST_DISRUPTED:
            why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
            raise errors.forbidden("poddisruptionbudget", name, why, "policy")
        if allowed == 0:
            raise _blocked(_why_blocked(name, status))
        if dry_run:
            return

        def record(obj: Object) -> None:
            now = timestamp(self._store.agenda.now)
            obj["status"]["disruptionsAllowed"] = allowed - 1
            obj["status"].setdefault("disruptedPods", {})[pod["metadata"]["name"]] = now
            if allowed == 1:
                set_condition(
                    obj["status"],
                    {
                        "type": "DisruptionAllowed",
                        "status": "False",
                        "observedGeneration": status.get("observedGeneration", 0),
                        "lastTransitionTime": now,
                        "reason": "InsufficientPods",
                        "message": "",
                    },
                )

        self._store.mutate("PodDisruptionBudget", budget["metadata"]["namespace"], name, record)

    def _evict(self, pod: Object, options: DeleteOptions) -> None:
        check_preconditions(pod, options)
        meta = pod["metadata"]

        def mark(obj: Object) -> None:
            set_condition(
                obj.setdefault("status", {}),
                {
                    "type": "DisruptionTarget",
                    "status": "True",
                    "lastProbeTime": None,
                    "lastTransitionTime": timestamp(self._store.agenda.now),
                    "reason": "EvictionByEvictionAPI",
                    "message": "Eviction API: evicting",
                },
            )

        if not options.dry_run:
            pod = self._store.mutate("Pod", meta["namespace"], meta["name"], mark) or pod
        # The preconditions held before the condition was written; that write changed the version.
        self._writes.deleted(pod, DeleteOptions(options.grace, options.propagation, dry_run=options.dry_run))


def _needs_no_budget(pod: Object) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in ("Pending", "Succeeded", "Failed") or is_terminating(pod)


def _lets_unready_pods_go(budget: Object) -> bool:
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy", 0)
    return bool(desired > 0 and status.get("currentHealthy", 0) >= desired)


def _why_blocked(name: str, status: Object) -> str:
    conditions = status.get("conditions") or ()
    condition: Object = next(
        (c for c in conditions if c.get("type") == "DisruptionAllowed" and c.get("status") == "False"), {}
    )
    reason, message = condition.get("reason"), condition.get("message")
    healthy, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    if message and reason == "SyncFailed":
        return f"The disruption budget {name} does not allow evicting pods currently because it failed sync: {message}"
    if healthy <= desired:
        return f"The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
    if message:
        return f"The disruption budget {name} does not allow evicting pods currently ({reason}): {message}"
    return f"The disruption budget {name} does not allow evicting pods currently"


def _blocked(cause: str, wait: int = 0) -> errors.ApiStatus:
    details: Object = {"causes": [{"reason": "DisruptionBudget", "message": cause}]}
    if wait:
        details["retryAfterSeconds"] = wait
    return errors.ApiStatus(429, "TooManyRequests", _BLOCKED, details)
