# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say what the answer to an eviction means for the pod: it goes, it waits, it is asked again, or it cannot go.

The answers are those of the eviction subresource (kubernetes registry/core/pod/storage/eviction.go) and of what may
stand in front of it: admission, flow control, load balancers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..api.responses import clip, is_absent
from ..errors import (
    ApiError,
    Conflict,
    Forbidden,
    MaintenanceError,
    NotFound,
    ServerFault,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from ..objects import Obj, mapping_at
from ..reasons import Reason

ACCEPTED = "accepted"  # the pod is being deleted
GONE = "gone"  # there is no such pod any more
REFUSED = "refused"  # a budget says no; ask again when it has room
AGAIN = "again"  # a passing fault; ask again after a pause
FAILED = "failed"  # asking again would get the same answer

_BUDGET = re.compile(r"[Tt]he disruption budget (\S+) ")
_DENIED = re.compile(r'admission webhook "([^"]+)" denied the request|ValidatingAdmissionPolicy .* denied request')
_TWO_BUDGETS = "more than one PodDisruptionBudget"


@dataclass(frozen=True)
class Outcome:
    """What an answer means.

    kind: one of the constants above; reason: of the closed set; status: the HTTP status, 0 if none came;
    budget: the name of the refusing budget, "" if unknown; pause: seconds that the server asks to wait;
    stale: true if the answer shows that what is known of the pod is out of date.
    """

    kind: str
    reason: str = ""
    message: str = ""
    status: int = 0
    budget: str = ""
    pause: float | None = None
    stale: bool = False


def outcome_of(error: MaintenanceError | None) -> Outcome:
    """Return what the answer to an eviction or deletion means; None stands for a good one."""
    if error is None:
        return Outcome(ACCEPTED, status=201)
    if isinstance(error, Unreachable):
        return Outcome(FAILED if error.final else AGAIN, Reason.API_ERROR, error.message)
    if not isinstance(error, ApiError):
        return Outcome(FAILED, Reason.API_ERROR, error.message)
    for reading in (_denied, _missing, _conflicting, _slowed, _forbidden, _faulty):
        found = reading(error)
        if found is not None:
            return found
    return _failed(Reason.API_ERROR, error)


def _denied(error: ApiError) -> Outcome | None:
    # Webhooks choose their status code freely, so the words decide. A webhook that could not be called is no denial.
    return _failed(Reason.WEBHOOK_DENIED, error) if _DENIED.search(error.message) else None


def _missing(error: ApiError) -> Outcome | None:
    if not isinstance(error, NotFound):
        return None
    if is_absent(error):
        return Outcome(GONE, status=404, stale=True)
    return Outcome(
        FAILED,
        Reason.API_ERROR,
        "the API server has no policy/v1 evictions (%s): use Kubernetes 1.22 or later,"
        " or set delete_options.disable_eviction" % error.message,
        404,
    )


def _conflicting(error: ApiError) -> Outcome | None:
    if not isinstance(error, Conflict):
        return None
    # The uid precondition does not hold, or the pod changed under the request: look again, then decide.
    return Outcome(AGAIN, Reason.API_ERROR, error.message, 409, pause=error.retry_after, stale=True)


def _slowed(error: ApiError) -> Outcome | None:
    if not isinstance(error, TooManyRequests):
        return None
    for cause in error.causes:
        if "DisruptionBudget" in (cause.get("reason"), cause.get("type")):
            text = clip(str(cause.get("message") or error.message))
            found = _BUDGET.search(text)
            stale = "still being processed" in text
            return Outcome(
                REFUSED,
                Reason.PDB_STALE if stale else Reason.PDB_NO_BUDGET,
                text,
                429,
                budget=found.group(1) if found else "",
                pause=error.retry_after,
            )
    return Outcome(AGAIN, Reason.API_ERROR, error.message, 429, pause=error.retry_after)


def _forbidden(error: ApiError) -> Outcome | None:
    if isinstance(error, Unauthorized):
        return _failed(Reason.FORBIDDEN, error)
    if not isinstance(error, Forbidden):
        return None
    if any("NamespaceTerminating" in (cause.get("reason"), cause.get("type")) for cause in error.causes):
        return Outcome(AGAIN, Reason.NAMESPACE_TERMINATING, error.message, 403, stale=True)
    if mapping_at(error.details, "about").get("kind") in ("poddisruptionbudgets", "poddisruptionbudget"):
        # A budget whose books are full or below zero: its controller has to catch up first.
        name = str(mapping_at(error.details, "about").get("name") or "")
        return Outcome(REFUSED, Reason.PDB_STALE, error.message, 403, budget=name)
    return _failed(Reason.FORBIDDEN, error)


def _faulty(error: ApiError) -> Outcome | None:
    if not isinstance(error, ServerFault):
        return None
    if _TWO_BUDGETS in error.message:
        return _failed(Reason.PDB_MULTIPLE, error)
    return Outcome(AGAIN, Reason.API_ERROR, error.message, error.status, pause=error.retry_after)


def _failed(reason: str, error: ApiError) -> Outcome:
    return Outcome(FAILED, reason, error.message, error.status)


def eviction_of(pod: Obj, grace: int | None, dry_run: bool) -> Obj:
    """Return the body of an eviction: bound to the pod's uid, with the grace period only if one was asked for."""
    meta = mapping_at(pod, "metadata")
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": meta.get("name"), "namespace": meta.get("namespace")},
        "deleteOptions": _delete_options(pod, grace, dry_run),
    }


def deletion_of(pod: Obj, grace: int | None, dry_run: bool) -> Obj:
    """Return the body of a DELETE of the pod, with the same options as an eviction."""
    return dict(_delete_options(pod, grace, dry_run), apiVersion="v1", kind="DeleteOptions")


def _delete_options(pod: Obj, grace: int | None, dry_run: bool) -> Obj:
    options: Obj = {"preconditions": {"uid": mapping_at(pod, "metadata").get("uid")}}
    if grace is not None:
        options["gracePeriodSeconds"] = grace
    if dry_run:
        options["dryRun"] = ["All"]
    return options
