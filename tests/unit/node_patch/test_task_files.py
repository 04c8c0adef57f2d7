# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Task files that Ansible could not read when it is their turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.task_files import invalid_task_files

GOOD = """---
- name: Look
  ansible.builtin.command: uname -r
  register: kernel
- name: Do both
  block:
    - local_action: ping
  rescue:
    - kubernetes.core.k8s_info: {kind: Node}
  when: kernel is changed
- include_tasks: others.yml
- meta: end_host
- set_fact:
    text: !unsafe "{{ this }}"
- "{{ chosen }}":
"""


def looked_at(folder: Path, text: str) -> str:
    """Return what is said of a file with this text, from its name on; every module is known but ours.nothing.x."""
    path = folder / "hook.yml"
    path.write_text(text, encoding="utf-8")
    said = invalid_task_files([str(path)], lambda action, _collections: action != "ours.nothing.x")
    return said.replace(f"The task file {path} cannot be run: ", "")


@pytest.mark.parametrize("text", [GOOD, "", "---\n", "$ANSIBLE_VAULT;1.1;AES256\n3031: [\n"])
def test_a_file_that_can_be_run_is_not_refused(tmp_path: Path, text: str) -> None:
    assert looked_at(tmp_path, text) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- ping:\n- debug: {msg: a {{ b }}}\n", "line 2 is not YAML (expected ',' or '}', but got '{')."),
        ("tasks: []\n", "it must hold a list of tasks."),
        ("- hosts: all\n  tasks: []\n", "it holds plays, and not a list of tasks."),
        ("- ping\n", "'ping' is not a task."),
        ("- name: Nothing\n", "no module/action detected in task."),
        ("- ping:\n  whn: a\n", "conflicting action statements: ping, whn."),
        ("- ours.nothing.x:\n", "there is no module ours.nothing.x, or its collection is not installed."),
        ("- block:\n    - ping:\n  always:\n    - name: Nothing\n", "no module/action detected in task."),
    ],
    ids=["yaml", "mapping", "play", "text", "nothing", "keyword", "module", "block"],
)
def test_what_keeps_a_file_from_being_run_is_said(tmp_path: Path, text: str, said: str) -> None:
    assert looked_at(tmp_path, text) == said


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    assert "Is a directory" in invalid_task_files([str(tmp_path)])
