# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of one object: kubectl's checks in its order, with its messages, and the strict semantics."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.viewers import View, view

Object = dict[str, Any]
WAIT = 'Waiting for deployment "web" rollout to finish: '
AGENT = 'Waiting for daemon set "agent" rollout to finish: '
DONE = 'deployment "web" successfully rolled out'
AGENT_DONE = 'daemon set "agent" successfully rolled out'
REVISION = "deployment.kubernetes.io/revision"


def deployment(wanted: int | None = 3, generation: int = 2, observed: int | None = 2, **status: Any) -> Object:
    spec: Object = {} if wanted is None else {"replicas": wanted}
    found = {**({} if observed is None else {"observedGeneration": observed}), **status}
    return {"metadata": {"name": "web", "generation": generation}, "spec": spec, "status": found}


def daemonset(strategy: str = "RollingUpdate", generation: int = 2, observed: int | None = 2, **status: Any) -> Object:
    found = {**({} if observed is None else {"observedGeneration": observed}), **status}
    meta = {"name": "agent", "generation": generation}
    return {"metadata": meta, "spec": {"updateStrategy": {"type": strategy}}, "status": found}


def statefulset(
    wanted: int | None = 3,
    partition: int | None = 0,
    strategy: str = "RollingUpdate",
    generation: int = 2,
    observed: int | None = 2,
    min_ready: int = 0,
    **status: Any,
) -> Object:
    update: Object = {"type": strategy}
    if partition is not None:
        update["rollingUpdate"] = {"partition": partition}
    spec: Object = {"updateStrategy": update, "minReadySeconds": min_ready}
    if wanted is not None:
        spec["replicas"] = wanted
    found = {"currentRevision": "db-1", "updateRevision": "db-2", **status}
    if observed is not None:
        found["observedGeneration"] = observed
    return {"metadata": {"name": "db", "generation": generation}, "spec": spec, "status": found}


def seen(kind: str, obj: Object, **options: Any) -> tuple[str, bool]:
    found = view(kind, obj, **options)
    assert found.failure == ""
    return found.message, found.done


def complete(count: int = 3, **status: Any) -> Object:
    return {"replicas": count, "updatedReplicas": count, "readyReplicas": count, "availableReplicas": count, **status}


@pytest.mark.parametrize(
    ("obj", "message", "done"),
    [
        (deployment(observed=1, **complete()), "Waiting for deployment spec update to be observed...", False),
        (deployment(observed=None), "Waiting for deployment spec update to be observed...", False),
        (deployment(wanted=3, updatedReplicas=1), WAIT + "1 out of 3 new replicas have been updated...", False),
        (deployment(), WAIT + "0 out of 3 new replicas have been updated...", False),
        (deployment(updatedReplicas=None), WAIT + "0 out of 3 new replicas have been updated...", False),
        (deployment(**complete(replicas=4)), WAIT + "1 old replicas are pending termination...", False),
        (deployment(**complete(availableReplicas=2)), WAIT + "2 of 3 updated replicas are available...", False),
        (
            deployment(**complete(availableReplicas=None)),
            WAIT + "0 of 3 updated replicas are available...",
            False,
        ),
        (deployment(**complete()), DONE, True),
        (deployment(**complete(terminatingReplicas=1)), DONE, True),
        (deployment(wanted=0), DONE, True),
        (deployment(wanted=None), DONE, True),
        (deployment(wanted=None, **complete(1)), DONE, True),
    ],
    ids=[
        "unobserved", "never-observed", "updating", "nothing-updated", "null", "old-left", "not-available",
        "available-null", "complete", "old-terminating", "zero", "no-replicas", "no-replicas-complete",
    ],
)  # fmt: skip
def test_a_deployment_is_judged_in_the_order_of_kubectl(obj: Object, message: str, done: bool) -> None:
    assert seen("Deployment", obj) == (message, done)


def test_a_deployment_that_is_scaled_down_is_not_complete_before_its_pods_are_gone() -> None:
    assert seen("Deployment", deployment(wanted=0, **complete(2))) == (
        WAIT + "2 old replicas are pending termination...",
        False,
    )


def test_a_progress_deadline_that_passed_is_a_failure_that_may_be_stale() -> None:
    conditions = [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]
    found = view("Deployment", deployment(updatedReplicas=1, conditions=conditions))
    assert found == View("", failure='deployment "web" exceeded its progress deadline', may_be_stale=True)


def test_an_unobserved_spec_is_reported_before_the_deadline_of_the_one_before() -> None:
    conditions = [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]
    assert seen("Deployment", deployment(generation=3, conditions=conditions)) == (
        "Waiting for deployment spec update to be observed...",
        False,
    )


@pytest.mark.parametrize(
    ("annotation", "failure"),
    [
        ("4", "desired revision (3) is different from the running revision (4): it was superseded by revision 4"),
        ("2", "desired revision (3) is different from the running revision (2)"),
        (None, f'deployment "web" has no annotation {REVISION} yet, so it is unknown whether it is at revision 3'),
        ("new", "deployment \"web\" says 'new', which is not a revision, so it is unknown whether it is at revision 3"),
    ],
)
def test_another_revision_than_the_pinned_one_is_a_failure(annotation: str | None, failure: str) -> None:
    obj = deployment(generation=3, **complete())
    if annotation is not None:
        obj["metadata"]["annotations"] = {REVISION: annotation}
    assert view("Deployment", obj, revision=3).failure == failure


def test_the_pinned_revision_is_waited_for() -> None:
    obj = deployment(**complete())
    obj["metadata"]["annotations"] = {REVISION: "3"}
    assert seen("Deployment", obj, revision=3) == (DONE, True)


FULL = {"desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberAvailable": 3, "numberReady": 3}


@pytest.mark.parametrize(
    ("obj", "message", "done"),
    [
        (daemonset(observed=1, **FULL), "Waiting for daemon set spec update to be observed...", False),
        (daemonset(generation=1, observed=0), "Waiting for daemon set spec update to be observed...", False),
        (daemonset(**{**FULL, "updatedNumberScheduled": 1}), AGENT + "1 out of 3 new pods have been updated...", False),
        (daemonset(desiredNumberScheduled=3), AGENT + "0 out of 3 new pods have been updated...", False),
        (daemonset(**{**FULL, "numberAvailable": 2}), AGENT + "2 of 3 updated pods are available...", False),
        (daemonset(**{**FULL, "numberAvailable": None}), AGENT + "0 of 3 updated pods are available...", False),
        (daemonset(**FULL), AGENT_DONE, True),
        (daemonset(desiredNumberScheduled=0), AGENT_DONE, True),
    ],
    ids=["unobserved", "new", "updating", "nothing-updated", "not-available", "null", "complete", "no-node"],
)
def test_a_daemonset_is_judged_in_the_order_of_kubectl(obj: Object, message: str, done: bool) -> None:
    assert seen("DaemonSet", obj) == (message, done)


UNSEEN = "Waiting for statefulset spec update to be observed..."


@pytest.mark.parametrize(
    ("obj", "message", "done"),
    [
        (statefulset(observed=None), UNSEEN, False),
        (statefulset(generation=0, observed=0), UNSEEN, False),
        (statefulset(generation=3, readyReplicas=3, updatedReplicas=3), UNSEEN, False),
        (statefulset(readyReplicas=1), "Waiting for 2 pods to be ready...", False),
        (
            statefulset(readyReplicas=3, updatedReplicas=1),
            "Waiting for partitioned roll out to finish: 1 out of 3 new pods have been updated...",
            False,
        ),
        (
            statefulset(partition=1, readyReplicas=3, updatedReplicas=1),
            "Waiting for partitioned roll out to finish: 1 out of 2 new pods have been updated...",
            False,
        ),
        (
            statefulset(partition=2, readyReplicas=3, updatedReplicas=1),
            "partitioned roll out complete: 1 new pods have been updated...",
            True,
        ),
        (
            statefulset(partition=2, readyReplicas=3, updatedReplicas=3),
            "partitioned roll out complete: 3 new pods have been updated...",
            True,
        ),
        (
            statefulset(partition=5, readyReplicas=3),
            "partitioned roll out complete: 0 new pods have been updated...",
            True,
        ),
        (
            statefulset(partition=None, readyReplicas=3, updatedReplicas=1),
            "waiting for statefulset rolling update to complete 1 pods at revision db-2...",
            False,
        ),
        (
            statefulset(partition=None, readyReplicas=3, currentReplicas=3, currentRevision="db-2", updatedReplicas=3),
            "statefulset rolling update complete 3 pods at revision db-2...",
            True,
        ),
        (
            statefulset(wanted=0, currentRevision="db-2"),
            "partitioned roll out complete: 0 new pods have been updated...",
            True,
        ),
        (
            statefulset(wanted=None, readyReplicas=1, updatedReplicas=1),
            "partitioned roll out complete: 1 new pods have been updated...",
            True,
        ),
    ],
)
def test_a_statefulset_is_judged_in_the_order_of_kubectl(obj: Object, message: str, done: bool) -> None:
    assert seen("StatefulSet", obj) == (message, done)


def test_an_absent_count_means_all_pods_once_the_new_revision_is_the_current_one() -> None:
    obj = statefulset(readyReplicas=3, currentReplicas=3, currentRevision="db-2")
    assert seen("StatefulSet", obj) == ("partitioned roll out complete: 3 new pods have been updated...", True)


def test_an_absent_count_means_none_while_the_revisions_differ() -> None:
    assert not view("StatefulSet", statefulset(readyReplicas=3, currentReplicas=3)).done


def test_a_statefulset_that_is_scaled_to_zero_is_not_complete_before_its_pods_are_gone() -> None:
    obj = statefulset(wanted=0, updatedReplicas=2)
    obj["status"]["replicas"] = 2
    assert seen("StatefulSet", obj) == ("Waiting for 2 pods to be terminated...", False)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", ["DaemonSet", "StatefulSet"])
def test_an_unknown_strategy_is_a_failure_that_names_it(kind: str, strict: bool) -> None:
    obj = daemonset("Canary", **FULL) if kind == "DaemonSet" else statefulset(strategy="Canary", readyReplicas=3)
    name = obj["metadata"]["name"]
    assert view(kind, obj, strict=strict).failure == (
        "rollout status is only available for RollingUpdate strategy type: "
        f'{kind} "{name}" has Canary (an unknown strategy)'
    )


@pytest.mark.parametrize("kind", ["DaemonSet", "StatefulSet"])
def test_another_strategy_than_rolling_update_is_a_failure_that_names_it(kind: str) -> None:
    obj = daemonset("OnDelete", **FULL) if kind == "DaemonSet" else statefulset(strategy="OnDelete", readyReplicas=3)
    name = obj["metadata"]["name"]
    assert view(kind, obj).failure == (
        "rollout status is only available for RollingUpdate strategy type: "
        f'{kind} "{name}" has OnDelete (semantics=strict supports it, by the revision of its pods)'
    )


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet", "StatefulSet"])
def test_an_object_without_status_is_waited_for(kind: str) -> None:
    found = view(kind, {"metadata": {"name": "x", "generation": 1}, "spec": {"replicas": 1}, "status": None})
    assert (found.done, found.failure) == (False, "")


@pytest.mark.parametrize(
    ("kind", "obj", "message", "done"),
    [
        (
            "Deployment",
            deployment(**complete(terminatingReplicas=1)),
            WAIT + "1 replicas are still terminating...",
            False,
        ),
        ("Deployment", deployment(**complete(terminatingReplicas=0)), DONE, True),
        (
            "StatefulSet",
            statefulset(readyReplicas=3, updatedReplicas=3, availableReplicas=1, min_ready=30),
            "Waiting for 2 pods to be available...",
            False,
        ),
        (
            "StatefulSet",
            statefulset(wanted=2, readyReplicas=2, updatedReplicas=2, availableReplicas=2),
            "partitioned roll out complete: 2 new pods have been updated...",
            True,
        ),
        (
            "StatefulSet",
            statefulset(strategy="OnDelete", partition=None, readyReplicas=3, updatedReplicas=1, availableReplicas=3),
            "Waiting for pods to be deleted (OnDelete): 1 out of 3 pods are at revision db-2...",
            False,
        ),
        (
            "StatefulSet",
            statefulset(strategy="OnDelete", partition=None, readyReplicas=3, updatedReplicas=3, availableReplicas=3),
            "statefulset update complete 3 pods at revision db-2...",
            True,
        ),
        ("DaemonSet", daemonset("OnDelete", **FULL), AGENT_DONE, True),
        (
            "DaemonSet",
            daemonset("OnDelete", **{**FULL, "updatedNumberScheduled": 1}),
            AGENT + "1 out of 3 new pods have been updated...",
            False,
        ),
    ],
)
def test_strict_semantics_ask_for_more(kind: str, obj: Object, message: str, done: bool) -> None:
    assert seen(kind, obj, strict=True) == (message, done)


def test_strict_semantics_wait_for_a_statefulset_to_shrink() -> None:
    obj = statefulset(readyReplicas=3, updatedReplicas=3, availableReplicas=3)
    obj["status"]["replicas"] = 5
    assert seen("StatefulSet", obj, strict=True) == ("Waiting for 2 pods to be terminated...", False)
    assert view("StatefulSet", obj).done
