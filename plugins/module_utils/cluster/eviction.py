# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the request bodies of evictions and deletions, and classify the responses.

Responses come from the eviction subresource (kubernetes registry/core/pod/storage/eviction.go) and from what may be in
front of it: admission, flow control, load balancers.
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
GONE = "gone"  # the pod does not exist any more
BLOCKED_BY_PDB = "blocked_by_pdb"  # retry when the budget allows a disruption
RETRY = "retry"  # a transient error; retry after a pause
FAILED = "failed"  # a retry would get the same response

_BUDGET = re.compile(r"[Tt]he disruption budget (\S+) ")
_DENIED = re.compile(r'admission webhook "([^"]+)" denied the request|ValidatingAdmissionPolicy .* denied request')
_TWO_BUDGETS = "more than one PodDisruptionBudget"


@dataclass(frozen=True)
class Outcome:
    """What a response means for the pod.

    kind: one of the constants above; reason: None for ACCEPTED and GONE; status: the HTTP status, 0 without a response;
    budget: the name of the budget that blocks the eviction, "" if unknown; retry_after: seconds, as the server asks;
    stale: the response shows that the cached pod is out of date.
    """

    kind: str
    reason: Reason | None = None
    message: str = ""
    status: int = 0
    budget: str = ""
    retry_after: float | None = None
    stale: bool = False


def outcome_of(error: MaintenanceError | None) -> Outcome:
    """Return what the response to an eviction or deletion means; None: it succeeded."""
    if error is None:
        return Outcome(ACCEPTED, status=201)
    if isinstance(error, Unreachable):
        return Outcome(FAILED if error.final else RETRY, Reason.API_ERROR, error.message)
    if not isinstance(error, ApiError):
        return Outcome(FAILED, Reason.API_ERROR, error.message)
    for classify in (_denied, _not_found, _conflict, _too_many_requests, _forbidden, _server_fault):
        found = classify(error)
        if found is not None:
            return found
    return _failed(Reason.API_ERROR, error)


def _denied(error: ApiError) -> Outcome | None:
    # Webhooks choose their status code, so match the message. Failing to call a webhook is not a denial.
    return _failed(Reason.WEBHOOK_DENIED, error) if _DENIED.search(error.message) else None


def _not_found(error: ApiError) -> Outcome | None:
    if not isinstance(error, NotFound):
        return None
    if is_absent(error):
        return Outcome(GONE, status=404, stale=True)
    return Outcome(
        FAILED,
        Reason.API_ERROR,
        f"the API server has no policy/v1 evictions ({error.message}): use Kubernetes 1.22 or later,"
        " or set delete_options.disable_eviction",
        404,
    )


def _conflict(error: ApiError) -> Outcome | None:
    if not isinstance(error, Conflict):
        return None
    # The uid precondition failed, or the pod was changed concurrently: list the pods again before retrying.
    return Outcome(RETRY, Reason.API_ERROR, error.message, 409, retry_after=error.retry_after, stale=True)


def _too_many_requests(error: ApiError) -> Outcome | None:
    if not isinstance(error, TooManyRequests):
        return None
    for cause in error.causes:
        if "DisruptionBudget" in (cause.get("reason"), cause.get("type")):
            text = clip(str(cause.get("message") or error.message))
            found = _BUDGET.search(text)
            stale = "still being processed" in text
            return Outcome(
                BLOCKED_BY_PDB,
                Reason.PDB_STALE if stale else Reason.PDB_NO_BUDGET,
                text,
                429,
                budget=found.group(1) if found else "",
                retry_after=error.retry_after,
            )
    return Outcome(RETRY, Reason.API_ERROR, error.message, 429, retry_after=error.retry_after)


def _forbidden(error: ApiError) -> Outcome | None:
    if isinstance(error, Unauthorized):
        return _failed(Reason.FORBIDDEN, error)
    if not isinstance(error, Forbidden):
        return None
    if any("NamespaceTerminating" in (cause.get("reason"), cause.get("type")) for cause in error.causes):
        return Outcome(RETRY, Reason.NAMESPACE_TERMINATING, error.message, 403, stale=True)
    if mapping_at(error.details, "about").get("kind") in ("poddisruptionbudgets", "poddisruptionbudget"):
        # disruptedPods is full or disruptionsAllowed is negative: the disruption controller has to catch up first.
        name = str(mapping_at(error.details, "about").get("name") or "")
        return Outcome(BLOCKED_BY_PDB, Reason.PDB_STALE, error.message, 403, budget=name)
    return _failed(Reason.FORBIDDEN, error)


def _server_fault(error: ApiError) -> Outcome | None:
    if not isinstance(error, ServerFault):
        return None
    if _TWO_BUDGETS in error.message:
        return _failed(Reason.PDB_MULTIPLE, error)
    return Outcome(RETRY, Reason.API_ERROR, error.message, error.status, retry_after=error.retry_after)


def _failed(reason: Reason, error: ApiError) -> Outcome:
    return Outcome(FAILED, reason, error.message, error.status)


def eviction_body(pod: Obj, grace: int | None, dry_run: bool) -> Obj:
    """Return the body of an eviction of exactly this uid. grace: None leaves the pod's own grace period."""
    meta = mapping_at(pod, "metadata")
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": meta.get("name"), "namespace": meta.get("namespace")},
        "deleteOptions": _delete_options(pod, grace, dry_run),
    }


def deletion_body(pod: Obj, grace: int | None, dry_run: bool) -> Obj:
    """Return the body of a DELETE of the pod, with the same options as an eviction."""
    return dict(_delete_options(pod, grace, dry_run), apiVersion="v1", kind="DeleteOptions")


def _delete_options(pod: Obj, grace: int | None, dry_run: bool) -> Obj:
    options: Obj = {"preconditions": {"uid": mapping_at(pod, "metadata").get("uid")}}
    if grace is not None:
        options["gracePeriodSeconds"] = grace
    if dry_run:
        options["dryRun"] = ["All"]
    return options
