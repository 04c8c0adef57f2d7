# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes get into an inventory, and how."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.inventory import inventory_of, is_address

ATTACK = "{{ lookup('pipe', 'id') }}"


def node(name: str, address: str = "10.0.0.1", **labels: str) -> dict[str, Any]:
    return {"name": name, "internal_ip": address, "labels": labels}


def hosts_of(text: str) -> dict[str, list[str]]:
    """Return the hosts of each group as Ansible reads them."""
    groups = DataLoader().load(text)["nodes"]["children"]
    return {str(name): [str(host) for host in group["hosts"]] for name, group in groups.items()}


def test_nodes_are_grouped_by_their_role() -> None:
    made = inventory_of([node("w1"), {**node("cp1"), "labels": {"node-role.kubernetes.io/control-plane": ""}}])
    assert hosts_of(made.text) == {"control_plane": ["cp1"], "workers": ["w1"]}
    assert (made.written, made.left_out) == (["w1", "cp1"], [])


@pytest.mark.parametrize("name", ["1e5", "on", "null", "2026-12-01", "0x1f", "12", "1.5", "y", "0o7", "1-2"])
def test_names_that_yaml_reads_as_other_types_stay_texts(name: str) -> None:
    text = inventory_of([node(name)]).text
    assert hosts_of(text)["workers"] == [name]
    host = DataLoader().load(text)["nodes"]["children"]["workers"]["hosts"][name]
    assert host == {"node_patch_node": name, "ansible_host": "10.0.0.1"}


def test_a_node_without_an_address_is_reached_by_its_name() -> None:
    assert 'ansible_host: "w1"' in inventory_of([node("w1", "")]).text


@pytest.mark.parametrize(
    "address",
    [
        ATTACK,
        ATTACK + "10.0.0.1",
        "fe80::1%" + ATTACK,
        "fe80::1%eth0",
        "-oProxyCommand=id",
        "10.0.0.1\nansible_connection: local",
        "10.0.0.1\n",
        "user@10.0.0.1",
        "10.0.0.1, ansible_connection: local",
        "10.0.0.[1:9]",
        "127.0.0.1",
        "127.1",
        "::1",
        "localhost",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::ffff:127.0.0.1",
        "::ffff:0.0.0.0",
        "localhost.localdomain",
        "localhost4",
        "ip6-localhost",
        "foo.localhost",
        "010.0.0.1",
        "0x7f000001",
        "a" * 300,
        "worker_1",
        "Ω.example.org",
    ],
)
def test_an_address_that_is_not_of_another_machine_is_left_out(address: str) -> None:
    made = inventory_of([node("w1", address), node("w2")])
    assert (hosts_of(made.text)["workers"], made.written) == (["w2"], ["w2"])
    (said,) = made.left_out
    assert said.startswith("The node w1 was left out, because its address ") and len(said) < 200 and said.isascii()


@pytest.mark.parametrize("address", ["10.0.0.1", "fd00::a", "w1.example.org", "ip-10-0-0-1.eu.internal"])
def test_an_address_of_another_machine_is_written(address: str) -> None:
    assert is_address(address)


@pytest.mark.parametrize(
    "name",
    [
        "",
        ATTACK,
        "evil: {ansible_python_interpreter: /bin/evil}\n        w3",
        "w[1:3]",
        "-w",
        "W1",
        "w1..x",
        "a" * 254,
        "localhost",
        "127.0.0.1",
        "all",
        "nodes",
        "workers",
        "\x1b]0;title\x07",
    ],
)
def test_a_name_that_no_host_should_have_is_left_out(name: str) -> None:
    made = inventory_of([node(name), node("w2")])
    assert (hosts_of(made.text)["workers"], made.written) == (["w2"], ["w2"])
    (said,) = made.left_out
    assert "was left out, because" in said and len(said) < 200 and said.isascii() and said.isprintable()


def test_without_nodes_the_groups_are_empty() -> None:
    assert hosts_of(inventory_of([]).text) == {"control_plane": [], "workers": []}
