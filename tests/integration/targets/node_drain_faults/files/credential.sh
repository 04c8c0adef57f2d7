#!/bin/sh
# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A credential plugin: gives token-1, then token-2 and so on. RUNS is a file that gets a line for each run.
echo run >> "$RUNS"
token="token-$(grep -c run "$RUNS")"
printf '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "%s"}}\n' "$token"
