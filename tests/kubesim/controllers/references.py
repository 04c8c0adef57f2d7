# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""References of containers and volumes to ConfigMaps and Secrets that are not there."""

from __future__ import annotations

from collections.abc import Iterator

from ..objects import Object
from ..store import Store

_KINDS = {"configMap": "ConfigMap", "secret": "Secret"}
# Certificates that a controller publishes into every namespace; they are not kept here, and never missing.
_PUBLISHED = ("kube-root-ca.crt", "openshift-service-ca.crt")


def missing_for(store: Store, pod: Object, container: Object) -> str | None:
    """Return why the container's environment cannot be made, in the kubelet's words; None when it can."""
    namespace = pod["metadata"]["namespace"]
    for kind, reference, key in _environment(container):
        if reference.get("optional"):
            continue
        found = store.get(kind, namespace, reference.get("name", ""))
        if found is None:
            return f'{kind.lower()} "{reference.get("name", "")}" not found'
        if key is not None and not _has_key(found, key):
            return f"couldn't find key {key} in {kind} {namespace}/{reference['name']}"
    return None


def missing_for_volume(store: Store, namespace: str, volume: Object) -> str | None:
    """Return why a ConfigMap's or Secret's volume cannot be mounted; None when it can or is of another kind."""
    sources = [volume, *((volume.get("projected") or {}).get("sources") or ())]
    for source in sources:
        for field, kind in _KINDS.items():
            reference = source.get(field)
            if reference is None or reference.get("optional"):
                continue
            name = reference.get("secretName") or reference.get("name", "")
            if name in _PUBLISHED:
                continue
            found = store.get(kind, namespace, name)
            if found is None:
                return f'{kind.lower()} "{name}" not found'
            for item in reference.get("items") or ():
                if not _has_key(found, item["key"]):
                    return f"references non-existent {'config' if kind == 'ConfigMap' else 'secret'} key: {item['key']}"
    return None


def has_references(pod: Object) -> bool:
    """Return whether the pod's containers take their environment from ConfigMaps or Secrets."""
    return any(True for container in pod["spec"].get("containers") or () for _found in _environment(container))


def _environment(container: Object) -> Iterator[tuple[str, Object, str | None]]:
    for source in container.get("envFrom") or ():
        for field, kind in _KINDS.items():
            if source.get(f"{field}Ref"):
                yield kind, source[f"{field}Ref"], None
    for variable in container.get("env") or ():
        for field, kind in _KINDS.items():
            reference = (variable.get("valueFrom") or {}).get(f"{field}KeyRef")
            if reference:
                yield kind, reference, reference.get("key", "")


def _has_key(obj: Object, key: str) -> bool:
    return any(key in (obj.get(part) or {}) for part in ("data", "binaryData", "stringData"))
