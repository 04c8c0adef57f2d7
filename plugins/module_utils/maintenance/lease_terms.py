# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide who holds a Lease, and what to write into it.

https://kubernetes.io/docs/concepts/architecture/leases/ A lease is free when it names no holder, or when it was not
renewed within its duration. The clocks of all holders should agree, because the API server does not compare them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..objects import Obj, int_field, mapping_at, parse_time, version_of
from ..runtime.processes import Run, run_from

RUN_ANNOTATION = "kubeops.maintenance/run"
# A renewal is a write; one that was made a moment ago need not be made again.
_RENEW_AFTER = 1.0 / 3.0


@dataclass(frozen=True)
class Claimant:
    """Who wants the lock. run: the process that does, so that two runs in one name do not take each other's lock."""

    holder: str
    duration: int
    run: Run | None = None


@dataclass(frozen=True)
class Hold:
    """Who holds a lease at a moment. free: nobody does. ours: the claimant does; ended: a dead run of its name did."""

    free: bool
    ours: bool
    ended: bool
    holder: str
    since: str
    expires: float | None


def hold_of(lease: Obj | None, claimant: Claimant, now: float, has_ended: Callable[[Run], bool]) -> Hold:
    """Return who holds the lease. now: seconds since 1970."""
    spec = mapping_at(lease, "spec")
    holder = str(spec.get("holderIdentity") or "")
    renewed = parse_time(spec.get("renewTime"))
    expires = None if renewed is None else renewed + int_field(spec.get("leaseDurationSeconds"))
    since = str(spec.get("acquireTime") or spec.get("renewTime") or "?").partition(".")[0].rstrip("Z") + "Z"
    run = run_from(str(mapping_at(lease, "metadata", "annotations").get(RUN_ANNOTATION) or ""))
    same_name = holder == claimant.holder
    same_run = run is None or claimant.run is None or run == claimant.run
    ended = same_name and not same_run and run is not None and has_ended(run)
    expired = expires is None or now >= expires
    ours = bool(holder) and same_name and same_run
    return Hold(not holder or (expired and not ours), ours, ended and not expired, holder, since, expires)


def is_due(lease: Obj, claimant: Claimant, now: float) -> bool:
    """Return whether the claimant's own lease is to be renewed."""
    spec = mapping_at(lease, "spec")
    renewed = parse_time(spec.get("renewTime"))
    if renewed is None or int_field(spec.get("leaseDurationSeconds")) != claimant.duration:
        return True
    return now - renewed >= claimant.duration * _RENEW_AFTER


def taken(lease: Obj | None, claimant: Claimant, stamp: str, name: str, namespace: str, renewal: bool) -> Obj:
    """Return the Lease to create (lease is None), or the merge patch that takes or renews the one there is."""
    # The API wants exactly six digits of a second.
    moment = stamp.rstrip("Z") + ".000000Z"
    spec: Obj = {
        "holderIdentity": claimant.holder,
        "leaseDurationSeconds": claimant.duration,
        "renewTime": moment,
    }
    if not renewal:
        spec["acquireTime"] = moment
        spec["leaseTransitions"] = int_field(mapping_at(lease, "spec").get("leaseTransitions")) + (lease is not None)
    annotations = {RUN_ANNOTATION: claimant.run.text() if claimant.run else None}
    if lease is not None:
        return {"metadata": {"resourceVersion": version_of(lease), "annotations": annotations}, "spec": spec}
    meta = {"name": name, "namespace": namespace, "annotations": {k: v for k, v in annotations.items() if v}}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}
