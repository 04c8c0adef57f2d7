# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses of nodes and pods."""

from __future__ import annotations

from ..store import Store


class Addresses:
    """Give each pod one of its own, in the order of their starts."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._given = 0

    def of_node(self, name: str) -> str:
        """Return a node's InternalIP, nothing where it has none."""
        node = self._store.get("Node", None, name) or {}
        for address in (node.get("status") or {}).get("addresses") or ():
            if address.get("type") == "InternalIP":
                return str(address["address"])
        return ""

    def next_for_pod(self) -> str:
        """Return an address that no other pod has."""
        self._given += 1
        return f"10.{128 + (self._given >> 16) % 64}.{self._given >> 8 & 255}.{self._given & 255}"
