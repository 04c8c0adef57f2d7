# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds that the API serves, and how their paths and names are written."""

from __future__ import annotations

from dataclasses import dataclass

STANDARD_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True)
class Resource:
    """One row of discovery; `versions` are the versions of the group that serve it, preferred first."""

    group: str
    versions: tuple[str, ...]
    plural: str
    kind: str
    namespaced: bool = True
    short: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    generation: bool = False
    singular: str = ""
    verbs: tuple[str, ...] = STANDARD_VERBS

    @property
    def api_version(self) -> str:
        """Group and preferred version, as objects carry it."""
        return f"{self.group}/{self.versions[0]}" if self.group else self.versions[0]

    @property
    def list_kind(self) -> str:
        """The kind of a list of it."""
        return self.kind + "List"


def _all(*rows: Resource) -> dict[str, Resource]:
    return {row.kind: row for row in rows}


_STATUS = ("status",)
_SCALED = ("scale", "status")
_WORKLOAD = ("all",)
_RBAC = "rbac.authorization.k8s.io"
_NO_COLLECTION = tuple(verb for verb in STANDARD_VERBS if verb != "deletecollection")

KINDS: dict[str, Resource] = _all(
    Resource("", ("v1",), "configmaps", "ConfigMap", short=("cm",)),
    Resource("", ("v1",), "endpoints", "Endpoints", short=("ep",), singular="endpoints"),
    Resource("", ("v1",), "events", "Event", short=("ev",)),
    Resource("", ("v1",), "limitranges", "LimitRange", short=("limits",)),
    Resource("", ("v1",), "namespaces", "Namespace", False, ("ns",), ("finalize", "status"), verbs=_NO_COLLECTION),
    Resource("", ("v1",), "nodes", "Node", False, ("no",), ("proxy", "status")),
    Resource("", ("v1",), "persistentvolumeclaims", "PersistentVolumeClaim", True, ("pvc",), _STATUS),
    Resource("", ("v1",), "persistentvolumes", "PersistentVolume", False, ("pv",), _STATUS),
    Resource(
        "",
        ("v1",),
        "pods",
        "Pod",
        True,
        ("po",),
        ("binding", "ephemeralcontainers", "eviction", "log", "resize", "status"),
        _WORKLOAD,
        True,
    ),
    Resource("", ("v1",), "podtemplates", "PodTemplate"),
    Resource("", ("v1",), "replicationcontrollers", "ReplicationController", True, ("rc",), _SCALED, _WORKLOAD, True),
    Resource("", ("v1",), "resourcequotas", "ResourceQuota", True, ("quota",), _STATUS),
    Resource("", ("v1",), "secrets", "Secret"),
    Resource("", ("v1",), "serviceaccounts", "ServiceAccount", True, ("sa",)),
    Resource("", ("v1",), "services", "Service", True, ("svc",), _STATUS, _WORKLOAD),
    Resource("apps", ("v1",), "controllerrevisions", "ControllerRevision"),
    Resource("apps", ("v1",), "daemonsets", "DaemonSet", True, ("ds",), _STATUS, _WORKLOAD, True),
    Resource("apps", ("v1",), "deployments", "Deployment", True, ("deploy",), _SCALED, _WORKLOAD, True),
    Resource("apps", ("v1",), "replicasets", "ReplicaSet", True, ("rs",), _SCALED, _WORKLOAD, True),
    Resource("apps", ("v1",), "statefulsets", "StatefulSet", True, ("sts",), _SCALED, _WORKLOAD, True),
    Resource(
        "autoscaling",
        ("v2", "v1"),
        "horizontalpodautoscalers",
        "HorizontalPodAutoscaler",
        True,
        ("hpa",),
        _STATUS,
        _WORKLOAD,
    ),
    Resource("batch", ("v1",), "cronjobs", "CronJob", True, ("cj",), _STATUS, _WORKLOAD, True),
    Resource("batch", ("v1",), "jobs", "Job", True, (), _STATUS, _WORKLOAD, True),
    Resource("coordination.k8s.io", ("v1",), "leases", "Lease"),
    Resource("discovery.k8s.io", ("v1",), "endpointslices", "EndpointSlice"),
    Resource("networking.k8s.io", ("v1",), "ingresses", "Ingress", True, ("ing",), _STATUS, generation=True),
    Resource("networking.k8s.io", ("v1",), "networkpolicies", "NetworkPolicy", True, ("netpol",), generation=True),
    Resource(
        "policy", ("v1",), "poddisruptionbudgets", "PodDisruptionBudget", True, ("pdb",), _STATUS, generation=True
    ),
    Resource(_RBAC, ("v1",), "clusterrolebindings", "ClusterRoleBinding", False),
    Resource(_RBAC, ("v1",), "clusterroles", "ClusterRole", False),
    Resource(_RBAC, ("v1",), "rolebindings", "RoleBinding"),
    Resource(_RBAC, ("v1",), "roles", "Role"),
    Resource("scheduling.k8s.io", ("v1",), "priorityclasses", "PriorityClass", False, ("pc",), generation=True),
    Resource("storage.k8s.io", ("v1",), "csidrivers", "CSIDriver", False),
    Resource("storage.k8s.io", ("v1",), "csinodes", "CSINode", False),
    Resource("storage.k8s.io", ("v1",), "storageclasses", "StorageClass", False, ("sc",)),
    Resource("storage.k8s.io", ("v1",), "volumeattachments", "VolumeAttachment", False, (), _STATUS),
    Resource("apiregistration.k8s.io", ("v1",), "apiservices", "APIService", False, (), _STATUS),
    Resource(
        "certificates.k8s.io",
        ("v1",),
        "certificatesigningrequests",
        "CertificateSigningRequest",
        False,
        ("csr",),
        _STATUS,
    ),
    Resource("flowcontrol.apiserver.k8s.io", ("v1",), "flowschemas", "FlowSchema", False, (), _STATUS, generation=True),
    Resource("node.k8s.io", ("v1",), "runtimeclasses", "RuntimeClass", False),
    Resource("resource.k8s.io", ("v1",), "resourceclaims", "ResourceClaim", True, (), _STATUS),
    Resource(
        "admissionregistration.k8s.io",
        ("v1",),
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
        False,
        generation=True,
    ),
    Resource(
        "apiextensions.k8s.io",
        ("v1",),
        "customresourcedefinitions",
        "CustomResourceDefinition",
        False,
        ("crd", "crds"),
        _STATUS,
        generation=True,
    ),
)

# policy/v1 PodDisruptionBudget -> the plural used in messages and paths; Event is served by two groups from one
# storage.
ALIASES: dict[tuple[str, str], str] = {("events.k8s.io", "events"): "Event"}
_BY_PATH: dict[tuple[str, str], Resource] = {(row.group, row.plural): row for row in KINDS.values()}


def by_path(group: str, version: str, plural: str) -> Resource | None:
    """Return the resource that a path names, None when the API serves none."""
    row = _BY_PATH.get((group, plural))
    if row is None and (group, plural) in ALIASES and version == "v1":
        return KINDS[ALIASES[group, plural]]
    return row if row is not None and version in row.versions else None


def of_kind(kind: str) -> Resource:
    """Return the resource of a kind.

    Unknown kinds are stored as namespaced ones with the plural that English would give.
    """
    row = KINDS.get(kind)
    if row is None:
        row = Resource("", ("v1",), kind.lower() + "s", kind)
    return row
