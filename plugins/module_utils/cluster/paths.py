# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build URL paths of API resources."""

from __future__ import annotations

from urllib.parse import quote


def item_path(collection: str, name: str) -> str:
    """Return the path of one object of a collection."""
    return f"{collection}/{quote(name, safe='')}"


def namespaced_path(api_version: str, namespace: str, plural: str, name: str = "") -> str:
    """Return the path of a namespace's collection, or of one object of it."""
    root = "/apis/" if "/" in api_version else "/api/"
    path = f"{item_path(f'{root}{api_version}/namespaces', namespace)}/{plural}"
    return item_path(path, name) if name else path
