# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated Kubernetes API server with controllers and kubelets, for tests, demo and benchmarks.

As a process: `python -m kubesim --https --scenario demo --kubeconfig FILE`. Inside a test:

    cluster = Cluster()                  # kubesim.cluster; with Agenda, Store, Faults and Access
    cluster.load([...])                  # objects, for instance from kubesim.builders
    cluster.answer(Request.of("GET", "/api/v1/nodes", authorization="Bearer admintoken"))
    cluster.advance(5)                   # simulated seconds; nothing happens in between otherwise

Annotations that begin with fake/ tell it how long things take and what goes wrong: of pods see controllers/kubelet.py
and container_faults.py, of claims controllers/claims.py, of volumes controllers/attachments.py and
controllers/mounts.py, of namespaces admission.py.
"""

from __future__ import annotations
