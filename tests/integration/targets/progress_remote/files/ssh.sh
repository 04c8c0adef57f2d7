#!/bin/sh
# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Stands for ssh: the other host is this one. Its last argument is what the shell there is to do.
for argument; do
    case $argument in -O) exit 0 ;; esac
    command=$argument
done
exec /bin/sh -c "$command"
