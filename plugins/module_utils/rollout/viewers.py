# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a rollout is, from one object: the checks of C(kubectl rollout status), in its order, with its messages.

The differences from kubectl (pkg/polymorphichelpers/rollout_status.go) are deliberate and few; the guide
docs/guides/rollout-status.md lists them all, and those of the strict semantics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..objects import Obj, condition_of, int_field, mapping_at, name_of, parse_int

REVISION = "deployment.kubernetes.io/revision"
ROLLING, ON_DELETE = "RollingUpdate", "OnDelete"
NOT_ROLLING = "rollout status is only available for RollingUpdate strategy type"


@dataclass(frozen=True)
class View:
    """The status of a rollout, as kubectl's StatusViewer returns it.

    message: kubectl's line, "" where it prints none; done: the rollout is complete; failure: why it never will be;
    may_be_stale: the controller may revoke the failure at its next sync, so another read should confirm it.
    """

    message: str
    done: bool = False
    failure: str = ""
    may_be_stale: bool = False


Viewer = Callable[[Obj, int, bool], View]


class Kind(NamedTuple):
    """A kind that has a rollout. plural: its name in paths; revisions: whether its revisions have numbers."""

    plural: str
    viewer: Viewer
    revisions: bool = False


def view(kind: str, obj: Obj, revision: int = 0, strict: bool = False) -> View:
    """Return the status of an object of one of KINDS; revision: the one that a Deployment must have, 0 for any."""
    return KINDS[kind].viewer(obj, revision, strict)


def is_observed(obj: Obj) -> bool:
    """Return whether the controller has observed the spec, so that the status is about it."""
    return int_field(mapping_at(obj, "metadata").get("generation")) <= int_field(
        mapping_at(obj, "status").get("observedGeneration")
    )


def strategy_of(obj: Obj) -> str:
    """Return a StatefulSet's or DaemonSet's update strategy; the API's default where it is left out."""
    return str(mapping_at(obj, "spec", "updateStrategy").get("type") or ROLLING)


def revision_of(deployment: Obj) -> int | None:
    """Return the number of a Deployment's revision, None where its controller has written none."""
    return parse_int(str(mapping_at(deployment, "metadata", "annotations").get(REVISION) or ""))


def updated_of(stateful_set: Obj) -> int:
    """Return how many pods of a StatefulSet are of the new revision.

    Older servers drop the count when the new revision has become the current one: then it is all pods
    (https://github.com/kubernetes/kubernetes/issues/72212).
    """
    status = mapping_at(stateful_set, "status")
    revision = status.get("updateRevision")
    if status.get("updatedReplicas") is None and revision and revision == status.get("currentRevision"):
        return int_field(status.get("currentReplicas"), int_field(status.get("replicas")))
    return int_field(status.get("updatedReplicas"))


def deployment_view(obj: Obj, revision: int, strict: bool) -> View:
    """Return the status of a Deployment's rollout."""
    if revision > 0 and revision_of(obj) != revision:
        return View("", failure=_other_revision(obj, revision))
    if not is_observed(obj):
        return View("Waiting for deployment spec update to be observed...")
    if condition_of(obj, "Progressing").get("reason") == "ProgressDeadlineExceeded":
        return View("", failure=f'deployment "{name_of(obj)}" exceeded its progress deadline', may_be_stale=True)
    status, wanted = mapping_at(obj, "status"), mapping_at(obj, "spec").get("replicas")
    total, updated = int_field(status.get("replicas")), int_field(status.get("updatedReplicas"))
    waiting = f'Waiting for deployment "{name_of(obj)}" rollout to finish: '
    if wanted is not None and updated < int_field(wanted):
        return View(f"{waiting}{updated} out of {int_field(wanted)} new replicas have been updated...")
    # kubectl compares with the updated ones only, so it calls a scale-down done while the pods still exist.
    left = total - (updated if wanted is None else min(updated, int_field(wanted)))
    if left > 0:
        return View(f"{waiting}{left} old replicas are pending termination...")
    available = int_field(status.get("availableReplicas"))
    if available < updated:
        return View(f"{waiting}{available} of {updated} updated replicas are available...")
    terminating = int_field(status.get("terminatingReplicas"))
    if strict and terminating > 0:
        return View(f"{waiting}{terminating} replicas are still terminating...")
    return View(f'deployment "{name_of(obj)}" successfully rolled out', done=True)


def daemonset_view(obj: Obj, revision: int, strict: bool) -> View:
    """Return the status of a DaemonSet's rollout."""
    if not _has_end(obj, strict):
        return View("", failure=_not_rolling("DaemonSet", obj))
    if not is_observed(obj):
        return View("Waiting for daemon set spec update to be observed...")
    status = mapping_at(obj, "status")
    wanted, updated = int_field(status.get("desiredNumberScheduled")), int_field(status.get("updatedNumberScheduled"))
    waiting = f'Waiting for daemon set "{name_of(obj)}" rollout to finish: '
    if updated < wanted:
        return View(f"{waiting}{updated} out of {wanted} new pods have been updated...")
    available = int_field(status.get("numberAvailable"))
    if available < wanted:
        return View(f"{waiting}{available} of {wanted} updated pods are available...")
    return View(f'daemon set "{name_of(obj)}" successfully rolled out', done=True)


def statefulset_view(obj: Obj, revision: int, strict: bool) -> View:
    """Return the status of a StatefulSet's rollout."""
    if not _has_end(obj, strict):
        return View("", failure=_not_rolling("StatefulSet", obj))
    status, spec = mapping_at(obj, "status"), mapping_at(obj, "spec")
    if int_field(status.get("observedGeneration")) == 0 or not is_observed(obj):
        return View("Waiting for statefulset spec update to be observed...")
    wanted = spec.get("replicas")
    ready = int_field(status.get("readyReplicas"))
    if wanted is not None and ready < int_field(wanted):
        return View(f"Waiting for {int_field(wanted) - ready} pods to be ready...")
    surplus = int_field(status.get("replicas")) - int_field(wanted)
    if wanted is not None and surplus > 0 and (strict or int_field(wanted) == 0):
        return View(f"Waiting for {surplus} pods to be terminated...")
    if strict and wanted is not None:
        available = int_field(status.get("availableReplicas"), 0 if int_field(spec.get("minReadySeconds")) else ready)
        if available < int_field(wanted):
            return View(f"Waiting for {int_field(wanted) - available} pods to be available...")
    return _statefulset_revisions(obj, wanted)


def _statefulset_revisions(obj: Obj, wanted: Any) -> View:
    status, rolling = mapping_at(obj, "status"), mapping_at(obj, "spec", "updateStrategy").get("rollingUpdate")
    updated, revision = updated_of(obj), str(status.get("updateRevision") or "")
    if strategy_of(obj) == ON_DELETE:
        if updated < int_field(wanted):
            counts = f"{updated} out of {int_field(wanted)} pods are at revision {revision}"
            return View(f"Waiting for pods to be deleted (OnDelete): {counts}...")
        return View(f"statefulset update complete {updated} pods at revision {revision}...", done=True)
    if rolling is not None:
        # The partition may be greater than the number of replicas.
        expected = max(0, int_field(wanted) - int_field(mapping_at(rolling).get("partition")))
        if wanted is not None and updated < expected:
            counts = f"{updated} out of {expected} new pods have been updated"
            return View(f"Waiting for partitioned roll out to finish: {counts}...")
        return View(f"partitioned roll out complete: {updated} new pods have been updated...", done=True)
    if revision != str(status.get("currentRevision") or ""):
        return View(f"waiting for statefulset rolling update to complete {updated} pods at revision {revision}...")
    current = int_field(status.get("currentReplicas"))
    return View(f"statefulset rolling update complete {current} pods at revision {revision}...", done=True)


KINDS = {
    "Deployment": Kind("deployments", deployment_view, revisions=True),
    "DaemonSet": Kind("daemonsets", daemonset_view),
    "StatefulSet": Kind("statefulsets", statefulset_view),
}


def _other_revision(obj: Obj, revision: int) -> str:
    running = revision_of(obj)
    if running is None:
        text = mapping_at(obj, "metadata", "annotations").get(REVISION)
        found = f"has no annotation {REVISION} yet"
        if text is not None:
            found = f"says {str(text)!r}, which is not a revision"
        return f'deployment "{name_of(obj)}" {found}, so it is unknown whether it is at revision {revision}'
    text = f"desired revision ({revision}) is different from the running revision ({running})"
    return text + (f": it was superseded by revision {running}" if running > revision else "")


def _has_end(obj: Obj, strict: bool) -> bool:
    """Return whether a StatefulSet's or DaemonSet's update strategy is one that has a defined end."""
    return strategy_of(obj) == ROLLING or (strict and strategy_of(obj) == ON_DELETE)


def _not_rolling(kind: str, obj: Obj) -> str:
    known = strategy_of(obj) == ON_DELETE
    why = "semantics=strict supports it, by the revision of its pods" if known else "an unknown strategy"
    return f'{NOT_ROLLING}: {kind} "{name_of(obj)}" has {strategy_of(obj)} ({why})'


def figures(kind: str, obj: Obj) -> dict[str, int]:
    """Return the counts of an object under the names that the module's result gives them."""
    status, spec, meta = mapping_at(obj, "status"), mapping_at(obj, "spec"), mapping_at(obj, "metadata")
    if kind == "DaemonSet":
        names = ("desiredNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable")
        desired, updated, ready, available = (int_field(status.get(name)) for name in names)
    else:
        # The API's default where a manifest leaves it out.
        desired = int_field(spec.get("replicas"), 1)
        updated = updated_of(obj) if kind == "StatefulSet" else int_field(status.get("updatedReplicas"))
        ready, available = int_field(status.get("readyReplicas")), int_field(status.get("availableReplicas"))
    return {
        "desired": desired,
        "updated": updated,
        "ready": ready,
        "available": available,
        "generation": int_field(meta.get("generation")),
        "observed_generation": int_field(status.get("observedGeneration")),
    }
