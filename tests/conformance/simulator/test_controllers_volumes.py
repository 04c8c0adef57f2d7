# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Claims, attachments and mounts."""

from __future__ import annotations

from typing import Any

import pytest
from controlled_cluster import ControlledCluster

from kubesim import builders
from kubesim.objects import Object


def using(name: str = "db", node: str | None = "node-1", **options: Any) -> Object:
    """Return a pod that is about to start with the claim `data`."""
    return builders.pod(name, phase="Pending", node_name=node, claims=["data"], **options)


def volume(**annotations: str) -> list[Object]:
    """Return the claim `data` with its volume; annotations are given with underscores for slash and dash."""
    notes = {key.replace("_", "/", 1).replace("_", "-"): value for key, value in annotations.items()}
    return [builders.claim("data", volume="pv-1"), builders.volume("pv-1", "data", annotations=notes)]


def attachments(sim: ControlledCluster) -> list[tuple[str, bool]]:
    return [(va["spec"]["nodeName"], va["status"]["attached"]) for va in sim.store.list("VolumeAttachment")]


def told(sim: ControlledCluster, pod: str = "db") -> list[tuple[str, str]]:
    """Return reason and message of the warnings about a pod, in their order."""
    events = [e for e in sim.store.list("Event") if e["type"] == "Warning" and e["involvedObject"]["name"] == pod]
    events.sort(key=lambda e: str(e["metadata"]["name"]))
    return [(e["reason"], e["message"]) for e in events]


def ready(*objects: Object) -> ControlledCluster:
    sim = ControlledCluster(*objects)
    assert sim.ready() == ["db"], told(sim)
    return sim


def test_a_volume_is_attached_where_a_pod_that_uses_it_comes() -> None:
    assert attachments(ready(*volume(), using())) == [("node-1", True)]


def test_a_volume_stays_attached_while_its_pod_is_terminating() -> None:
    sim = ready(*volume(), using(term=3))
    sim.delete("db")
    sim.agenda.advance(2.9)
    assert attachments(sim) == [("node-1", True)]


def test_a_volume_is_detached_a_second_after_its_last_pod_went() -> None:
    sim = ready(*volume(), using(term=1))
    sim.delete("db")
    sim.agenda.advance(1.9)
    (left,) = sim.store.list("VolumeAttachment")
    assert left["metadata"].get("deletionTimestamp")
    sim.agenda.advance(0.2)
    assert attachments(sim) == []


def test_fake_detach_is_how_long_detaching_takes() -> None:
    sim = ready(*volume(fake_detach="30"), using(term=1))
    sim.delete("db")
    sim.agenda.advance(30)
    assert len(attachments(sim)) == 1
    sim.agenda.advance(1.1)
    assert attachments(sim) == []


def test_a_volume_may_never_be_detached() -> None:
    sim = ready(*volume(fake_detach="never"), using(term=1))
    sim.delete("db")
    sim.agenda.advance(3600)
    assert len(attachments(sim)) == 1


def test_a_detach_that_fails_says_so() -> None:
    sim = ready(*volume(fake_detach_error="device is busy"), using(term=1))
    sim.delete("db")
    sim.agenda.advance(10)
    assert sim.store.list("VolumeAttachment")[0]["status"]["detachError"]["message"] == "device is busy"


def test_a_volume_of_a_silent_node_stays_for_six_minutes() -> None:
    sim = ready(*volume(), using())
    sim.controllers.fail("node-1")
    sim.delete("db", grace=0)
    sim.agenda.advance(350)
    assert len(attachments(sim)) == 1
    sim.agenda.advance(20)
    assert attachments(sim) == []


def test_a_second_node_waits_for_the_volume() -> None:
    sim = ready(*volume(), using())
    sim.load(using("other", "node-2"))
    message = 'Multi-Attach error for volume "pv-1" Volume is already used by pod(s) db'
    assert told(sim, "other") == [("FailedAttachVolume", message)]
    sim.delete("db")
    sim.agenda.advance(10)
    assert (sim.ready(), attachments(sim)) == (["other"], [("node-2", True)])


def test_an_attach_that_fails_keeps_the_pod_from_starting() -> None:
    sim = ControlledCluster(*volume(fake_attach_error="volume is in another zone"), using())
    found = sim.get("Pod", "db")["status"]["containerStatuses"][0]["state"]
    assert found == {"waiting": {"reason": "ContainerCreating"}}
    message = 'AttachVolume.Attach failed for volume "pv-1" : volume is in another zone'
    assert told(sim) == [("FailedAttachVolume", message)]


def test_a_pod_starts_when_its_volume_can_be_attached() -> None:
    sim = ControlledCluster(*volume(fake_attach_error="volume is in another zone"), using())
    sim.store.mutate("PersistentVolume", None, "pv-1", lambda obj: obj["metadata"].pop("annotations"))
    sim.agenda.advance(20)
    assert sim.ready() == ["db"]


def test_a_mount_that_fails_is_told_by_the_kubelet() -> None:
    sim = ControlledCluster(*volume(fake_mount_error="wrong fs type"), using())
    assert told(sim) == [("FailedMount", 'MountVolume.MountDevice failed for volume "pv-1" : wrong fs type')]


def with_volume(**source: Any) -> Object:
    pod = builders.pod("db", phase="Pending")
    pod["spec"]["volumes"] = [{"name": "conf", **source}]
    return pod


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ({"configMap": {"name": "none"}}, 'configmap "none" not found'),
        ({"secret": {"secretName": "none"}}, 'secret "none" not found'),
        (
            {"configMap": {"name": "conf", "items": [{"key": "b", "path": "b"}]}},
            "references non-existent config key: b",
        ),
    ],
)
def test_a_volume_of_a_configuration_that_is_not_there_is_not_mounted(source: Any, complaint: str) -> None:
    sim = ControlledCluster(
        {"kind": "ConfigMap", "metadata": {"name": "conf"}, "data": {"a": ""}}, with_volume(**source)
    )
    assert told(sim) == [("FailedMount", f'MountVolume.SetUp failed for volume "conf" : {complaint}')]


def test_the_root_certificate_is_in_every_namespace() -> None:
    token = {"projected": {"sources": [{"configMap": {"name": "kube-root-ca.crt"}}]}}
    assert ControlledCluster(with_volume(**token)).ready() == ["db"]


def test_a_failing_mount_is_told_less_and_less_often() -> None:
    sim = ControlledCluster(with_volume(configMap={"name": "none"}))
    sim.agenda.advance(55)  # at 0.2, 0.7, 1.7, 3.7, 7.7, 15.7, 31.7: pauses double
    assert [e["count"] for e in sim.store.list("Event") if e["reason"] == "FailedMount"] == [7]


def unscheduled(sim: ControlledCluster) -> str:
    conditions = sim.get("Pod", "db")["status"]["conditions"]
    return str(next(c["message"] for c in conditions if c["type"] == "PodScheduled"))


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ([], 'persistentvolumeclaim "data" not found'),
        (
            [builders.claim("data", annotations={"fake/pending": "quota of volumes reached"})],
            "pod has unbound immediate PersistentVolumeClaims",
        ),
    ],
    ids=["missing", "pending"],
)
def test_a_pod_whose_claim_has_no_volume_gets_no_node(claims: list[Object], reason: str) -> None:
    message = unscheduled(ControlledCluster(*claims, using(node=None)))
    assert message.startswith(f"0/3 nodes are available: {reason}. ")


def test_a_pod_goes_where_its_volume_is() -> None:
    bound = [builders.claim("data", volume="pv-1"), builders.volume("pv-1", "data", node="node-2")]
    assert ready(*bound, using(node=None)).get("Pod", "db")["spec"]["nodeName"] == "node-2"


def test_a_pod_waits_for_the_node_of_its_volume() -> None:
    bound = [builders.claim("data", volume="pv-1"), builders.volume("pv-1", "data", node="node-9")]
    message = unscheduled(ControlledCluster(*bound, using(node=None)))
    assert "3 node(s) didn't match PersistentVolume's node affinity" in message


def test_a_claim_gets_a_volume_of_its_own() -> None:
    sim = ControlledCluster(builders.claim("data"))
    (made,) = sim.store.list("PersistentVolume")
    assert (sim.get("PersistentVolumeClaim", "data")["spec"]["volumeName"], made["spec"]["claimRef"]["name"]) == (
        made["metadata"]["name"],
        "data",
    )


def test_a_claim_of_an_unknown_class_stays_pending_and_says_why() -> None:
    sim = ControlledCluster(builders.claim("data", storage_class="fast"))
    assert told(sim, "data") == [("ProvisioningFailed", 'storageclass.storage.k8s.io "fast" not found')]


def test_a_claim_without_a_class_takes_the_smallest_volume_that_is_large_enough() -> None:
    sizes = {"small": "1Gi", "middle": "5Gi", "large": "10Gi"}
    volumes = [builders.volume(name, size=size) for name, size in sizes.items()]
    sim = ControlledCluster(*volumes, builders.claim("data", storage_class="", size="3Gi"))
    assert sim.get("PersistentVolumeClaim", "data")["spec"]["volumeName"] == "middle"


def test_a_class_may_wait_for_the_first_pod() -> None:
    sim = ControlledCluster(builders.storage_class("late", waits=True), builders.claim("data", storage_class="late"))
    assert sim.get("PersistentVolumeClaim", "data")["status"]["phase"] == "Pending"
    sim.load(using(node=None))
    assert sim.ready() == ["db"]


def test_the_pods_of_a_stateful_set_start_with_volumes_of_their_own() -> None:
    claiming = builders.stateful_set("kv", 2)
    claiming["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": {}}]
    sim = ControlledCluster(claiming)
    assert (sim.ready(), len(attachments(sim))) == (["kv-0", "kv-1"], 2)


def test_a_volume_goes_with_its_claim() -> None:
    sim = ControlledCluster(builders.claim("data"))
    sim.store.delete("PersistentVolumeClaim", "default", "data")
    sim.agenda.advance(1)
    assert sim.names("PersistentVolume") == []


def test_an_attachment_without_an_attacher_is_let_be() -> None:
    sim = ready(*volume(), builders.volume_attachment("by-hand", "node-1", "pv-1"), using(term=1))
    sim.delete("db")
    sim.agenda.advance(30)
    assert sim.names("VolumeAttachment") == ["by-hand"]


def test_every_node_says_which_drivers_it_has() -> None:
    assert ControlledCluster(nodes=2).store.list("CSINode")[1]["spec"]["drivers"][0]["name"] == "csi.example"
