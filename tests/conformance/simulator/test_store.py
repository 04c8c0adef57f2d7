# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of stored objects: versions, generations, graceful deletion and finalizers."""

from __future__ import annotations

from typing import Any

import pytest

from kubesim import builders
from kubesim.agenda import TEST_EPOCH, Agenda
from kubesim.errors import ApiStatus
from kubesim.objects import Object
from kubesim.store import Store


@pytest.fixture
def store() -> Store:
    return Store(Agenda(TEST_EPOCH))


def bound_pod(**options: Any) -> Object:
    return builders.pod("a", node_name="n", **options)


def stored(store: Store, kind: str = "Pod", name: str = "a") -> Object:
    found = store.get(kind, None if kind in ("Node", "Namespace") else "default", name)
    assert found is not None
    return found


def test_every_change_takes_the_next_version(store: Store) -> None:
    node = store.create({"kind": "Node", "metadata": {"name": "n"}})
    changed = store.mutate("Node", None, "n", lambda obj: obj.update(spec={"unschedulable": True}))
    assert changed is not None
    assert int(changed["metadata"]["resourceVersion"]) == int(node["metadata"]["resourceVersion"]) + 1


def test_an_equal_update_changes_nothing(store: Store) -> None:
    node = store.create({"kind": "Node", "metadata": {"name": "n"}})
    assert store.mutate("Node", None, "n", lambda obj: None) is node


def test_generated_names_and_uids_are_the_same_in_every_run() -> None:
    made = [Store(Agenda(TEST_EPOCH)).create({"kind": "Node", "metadata": {"generateName": "n-"}}) for _run in range(2)]
    assert made[0] == made[1]


def test_a_taken_name_is_refused(store: Store) -> None:
    store.create({"kind": "Node", "metadata": {"name": "n"}})
    with pytest.raises(ApiStatus, match='nodes "n" already exists'):
        store.create({"kind": "Node", "metadata": {"name": "n"}})


def test_a_stale_update_is_refused(store: Store) -> None:
    old = store.create({"kind": "Node", "metadata": {"name": "n"}})
    store.mutate("Node", None, "n", lambda obj: obj.update(spec={"unschedulable": True}))
    with pytest.raises(ApiStatus, match="the object has been modified"):
        store.update(old)


def test_generation_follows_the_spec_only(store: Store) -> None:
    store.load([builders.deployment("web", replicas=1)])
    store.mutate("Deployment", "default", "web", lambda obj: obj.update(status={"replicas": 1}))
    store.mutate("Deployment", "default", "web", lambda obj: obj["spec"].update(replicas=2))
    assert stored(store, "Deployment", "web")["metadata"]["generation"] == 2


def test_binding_a_pod_makes_no_new_generation(store: Store) -> None:
    store.load([builders.pod("a", node_name=None)])
    store.mutate("Pod", "default", "a", lambda obj: obj["spec"].update(nodeName="n"))
    assert stored(store)["metadata"]["generation"] == 1


def test_a_deleted_pod_gets_its_own_grace(store: Store) -> None:
    store.load([bound_pod()])
    store.delete("Pod", "default", "a")
    meta = stored(store)["metadata"]
    assert (meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"]) == ("2026-09-21T14:13:50Z", 30)


def test_a_second_deletion_may_shorten_the_grace_counted_from_the_first(store: Store) -> None:
    store.load([bound_pod()])
    store.delete("Pod", "default", "a")
    store.agenda.advance(4)
    store.delete("Pod", "default", "a", grace=10)
    assert stored(store)["metadata"]["deletionTimestamp"] == "2026-09-21T14:13:30Z"


def test_a_second_deletion_never_extends_the_grace(store: Store) -> None:
    store.load([bound_pod()])
    store.delete("Pod", "default", "a", grace=5)
    store.delete("Pod", "default", "a", grace=60)
    assert stored(store)["metadata"]["deletionGracePeriodSeconds"] == 5


@pytest.mark.parametrize(
    "pod",
    [builders.pod("a", node_name=None, phase="Pending"), bound_pod(phase="Succeeded"), bound_pod(phase="Failed")],
    ids=["not bound", "succeeded", "failed"],
)
def test_pods_without_containers_to_stop_go_at_once(store: Store, pod: Object) -> None:
    store.load([pod])
    store.delete("Pod", "default", "a")
    assert store.get("Pod", "default", "a") is None


def test_grace_zero_takes_a_running_pod_at_once(store: Store) -> None:
    store.load([bound_pod()])
    store.delete("Pod", "default", "a", grace=0)
    assert store.get("Pod", "default", "a") is None


def test_a_finalizer_keeps_a_pod_whose_containers_have_stopped(store: Store) -> None:
    store.load([bound_pod()])
    store.mutate("Pod", "default", "a", lambda obj: obj["metadata"].update(finalizers=["example.com/hold"]))
    store.delete("Pod", "default", "a")
    store.remove("Pod", "default", "a")
    assert stored(store)["metadata"]["deletionGracePeriodSeconds"] == 0


def test_lifting_the_last_finalizer_ends_a_deletion(store: Store) -> None:
    store.load([{**bound_pod(), "metadata": {"name": "a", "namespace": "default", "finalizers": ["example.com/hold"]}}])
    store.delete("Pod", "default", "a", grace=0)
    store.mutate("Pod", "default", "a", lambda obj: obj["metadata"].update(finalizers=[]))
    assert store.get("Pod", "default", "a") is None


def test_lifting_a_finalizer_within_the_grace_leaves_the_pod_to_its_kubelet(store: Store) -> None:
    store.load([{**bound_pod(), "metadata": {"name": "a", "namespace": "default", "finalizers": ["example.com/hold"]}}])
    store.delete("Pod", "default", "a")
    store.mutate("Pod", "default", "a", lambda obj: obj["metadata"].update(finalizers=[]))
    assert store.get("Pod", "default", "a") is not None


def test_a_deletion_by_uid_spares_a_successor(store: Store) -> None:
    store.load([bound_pod()])
    assert store.delete("Pod", "default", "a", uid="another") is None


def test_a_namespace_terminates_until_its_controller_is_done(store: Store) -> None:
    store.load([builders.namespace("default")])
    store.delete("Namespace", None, "default")
    assert stored(store, "Namespace", "default")["status"]["phase"] == "Terminating"


def test_a_terminating_namespace_takes_nothing_new(store: Store) -> None:
    store.load([builders.namespace("default", terminating=True)])
    with pytest.raises(ApiStatus, match="because it is being terminated"):
        store.create(bound_pod())


def test_listeners_hear_changes_in_order_even_if_one_of_them_changes_more(store: Store) -> None:
    seen = list[tuple[str, str]]()

    def change(event: str, new: Object, old: Object | None) -> None:
        if event == "ADDED" and new["kind"] == "Node":
            store.create({"kind": "Namespace", "metadata": {"name": "made"}})

    store.subscribe(change)
    store.subscribe(lambda event, new, old: seen.append((event, new["kind"])))
    store.create({"kind": "Node", "metadata": {"name": "n"}})
    assert seen == [("ADDED", "Node"), ("ADDED", "Namespace")]


def test_loaded_objects_keep_identity_and_times(store: Store) -> None:
    store.load([{**bound_pod(), "metadata": {"name": "a", "uid": "u-1", "creationTimestamp": "2020-01-01T00:00:00Z"}}])
    meta = stored(store)["metadata"]
    assert (meta["uid"], meta["creationTimestamp"]) == ("u-1", "2020-01-01T00:00:00Z")


def test_a_list_is_loaded_item_by_item(store: Store) -> None:
    store.load([{"kind": "NodeList", "items": [{"metadata": {"name": "n"}}]}])
    assert stored(store, "Node", "n")["apiVersion"] == "v1"
