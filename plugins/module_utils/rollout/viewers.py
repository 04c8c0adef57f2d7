# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell from one object how far its rollout is: the checks of C(kubectl rollout status), in its order, with its words.

The differences from kubectl (pkg/polymorphichelpers/rollout_status.go) are deliberate and few; the guide
docs/guides/rollout-status.md lists them line by line, those of the strict semantics too.
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
    """What one look at a workload tells.

    message: kubectl's line, "" where it prints none; done: the rollout is complete; failure: why it never will be;
    doubtful: the controller may take the failure back at its next step, so a second look should confirm it.
    """

    message: str
    done: bool = False
    failure: str = ""
    doubtful: bool = False


Viewer = Callable[[Obj, int, bool], View]


class Kind(NamedTuple):
    """A kind that can be followed. plural: its name in paths; revisions: whether a revision can be asked for."""

    plural: str
    viewer: Viewer
    revisions: bool = False


def view(kind: str, obj: Obj, revision: int = 0, strict: bool = False) -> View:
    """Look at an object of one of KINDS; revision: the one that a Deployment must have, 0 for any."""
    return KINDS[kind].viewer(obj, revision, strict)


def is_observed(obj: Obj) -> bool:
    """Tell whether the controller has seen the spec, so that the status speaks of it."""
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
    """Look at a Deployment."""
    if revision > 0 and revision_of(obj) != revision:
        return View("", failure=_other_revision(obj, revision))
    if not is_observed(obj):
        return View("Waiting for deployment spec update to be observed...")
    if condition_of(obj, "Progressing").get("reason") == "ProgressDeadlineExceeded":
        return View("", failure='deployment "%s" exceeded its progress deadline' % name_of(obj), doubtful=True)
    status, wanted = mapping_at(obj, "status"), mapping_at(obj, "spec").get("replicas")
    total, updated = int_field(status.get("replicas")), int_field(status.get("updatedReplicas"))
    waiting = 'Waiting for deployment "%s" rollout to finish: ' % name_of(obj)
    if wanted is not None and updated < int_field(wanted):
        return View(waiting + "%d out of %d new replicas have been updated..." % (updated, int_field(wanted)))
    # kubectl compares with the updated ones only, so it calls a scale-down done before the pods are gone.
    left = total - (updated if wanted is None else min(updated, int_field(wanted)))
    if left > 0:
        return View(waiting + "%d old replicas are pending termination..." % left)
    available = int_field(status.get("availableReplicas"))
    if available < updated:
        return View(waiting + "%d of %d updated replicas are available..." % (available, updated))
    terminating = int_field(status.get("terminatingReplicas"))
    if strict and terminating > 0:
        return View(waiting + "%d replicas are still terminating..." % terminating)
    return View('deployment "%s" successfully rolled out' % name_of(obj), done=True)


def daemonset_view(obj: Obj, revision: int, strict: bool) -> View:
    """Look at a DaemonSet."""
    if not _is_judged(obj, strict):
        return View("", failure=_not_rolling("DaemonSet", obj))
    if not is_observed(obj):
        return View("Waiting for daemon set spec update to be observed...")
    status = mapping_at(obj, "status")
    wanted, updated = int_field(status.get("desiredNumberScheduled")), int_field(status.get("updatedNumberScheduled"))
    waiting = 'Waiting for daemon set "%s" rollout to finish: ' % name_of(obj)
    if updated < wanted:
        return View(waiting + "%d out of %d new pods have been updated..." % (updated, wanted))
    available = int_field(status.get("numberAvailable"))
    if available < wanted:
        return View(waiting + "%d of %d updated pods are available..." % (available, wanted))
    return View('daemon set "%s" successfully rolled out' % name_of(obj), done=True)


def statefulset_view(obj: Obj, revision: int, strict: bool) -> View:
    """Look at a StatefulSet."""
    if not _is_judged(obj, strict):
        return View("", failure=_not_rolling("StatefulSet", obj))
    status, spec = mapping_at(obj, "status"), mapping_at(obj, "spec")
    if int_field(status.get("observedGeneration")) == 0 or not is_observed(obj):
        return View("Waiting for statefulset spec update to be observed...")
    wanted = spec.get("replicas")
    ready = int_field(status.get("readyReplicas"))
    if wanted is not None and ready < int_field(wanted):
        return View("Waiting for %d pods to be ready..." % (int_field(wanted) - ready))
    surplus = int_field(status.get("replicas")) - int_field(wanted)
    if wanted is not None and surplus > 0 and (strict or int_field(wanted) == 0):
        return View("Waiting for %d pods to be terminated..." % surplus)
    if strict and wanted is not None:
        available = int_field(status.get("availableReplicas"), 0 if int_field(spec.get("minReadySeconds")) else ready)
        if available < int_field(wanted):
            return View("Waiting for %d pods to be available..." % (int_field(wanted) - available))
    return _statefulset_revisions(obj, wanted)


def _statefulset_revisions(obj: Obj, wanted: Any) -> View:
    status, rolling = mapping_at(obj, "status"), mapping_at(obj, "spec", "updateStrategy").get("rollingUpdate")
    updated, revision = updated_of(obj), str(status.get("updateRevision") or "")
    if strategy_of(obj) == ON_DELETE:
        if updated < int_field(wanted):
            text = "Waiting for pods to be deleted (OnDelete): %d out of %d pods are at revision %s..."
            return View(text % (updated, int_field(wanted), revision))
        return View("statefulset update complete %d pods at revision %s..." % (updated, revision), done=True)
    if rolling is not None:
        # More pods may be kept back than there are.
        expected = max(0, int_field(wanted) - int_field(mapping_at(rolling).get("partition")))
        if wanted is not None and updated < expected:
            text = "Waiting for partitioned roll out to finish: %d out of %d new pods have been updated..."
            return View(text % (updated, expected))
        return View("partitioned roll out complete: %d new pods have been updated..." % updated, done=True)
    if revision != str(status.get("currentRevision") or ""):
        text = "waiting for statefulset rolling update to complete %d pods at revision %s..."
        return View(text % (updated, revision))
    current = int_field(status.get("currentReplicas"))
    return View("statefulset rolling update complete %d pods at revision %s..." % (current, revision), done=True)


KINDS = {
    "Deployment": Kind("deployments", deployment_view, revisions=True),
    "DaemonSet": Kind("daemonsets", daemonset_view),
    "StatefulSet": Kind("statefulsets", statefulset_view),
}


def _other_revision(obj: Obj, revision: int) -> str:
    running = revision_of(obj)
    if running is None:
        text = mapping_at(obj, "metadata", "annotations").get(REVISION)
        found = "has no annotation %s yet" % REVISION
        if text is not None:
            found = "says %r, which is not a revision" % str(text)
        return 'deployment "%s" %s, so it is unknown whether it is at revision %d' % (name_of(obj), found, revision)
    text = "desired revision (%d) is different from the running revision (%d)" % (revision, running)
    return text + (": it was superseded by revision %d" % running if running > revision else "")


def _is_judged(obj: Obj, strict: bool) -> bool:
    """Tell whether it is known what a complete rollout is under a StatefulSet's or DaemonSet's update strategy."""
    return strategy_of(obj) == ROLLING or (strict and strategy_of(obj) == ON_DELETE)


def _not_rolling(kind: str, obj: Obj) -> str:
    known = strategy_of(obj) == ON_DELETE
    why = "semantics=strict judges it by the revision of its pods" if known else "a strategy that is not known here"
    return '%s: %s "%s" has %s (%s)' % (NOT_ROLLING, kind, name_of(obj), strategy_of(obj), why)


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
