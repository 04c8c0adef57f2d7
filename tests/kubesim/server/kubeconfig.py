# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kubeconfig for the simulated server."""

from __future__ import annotations

import base64


def kubeconfig(url: str, token: str, ca: bytes = b"", name: str = "kubesim", namespace: str = "default") -> str:
    """Return the text of a kubeconfig with one cluster, user and context, all of one name."""
    authority = f"\n    certificate-authority-data: {base64.b64encode(ca).decode()}" if ca else ""
    return f"""apiVersion: v1
kind: Config
current-context: {name}
clusters:
- name: {name}
  cluster:
    server: {url}{authority}
users:
- name: {name}
  user:
    token: {token}
contexts:
- name: {name}
  context:
    cluster: {name}
    user: {name}
    namespace: {namespace}
"""
