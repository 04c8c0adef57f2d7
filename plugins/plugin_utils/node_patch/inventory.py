# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write an inventory of a cluster's nodes.

Nobody vouches for what a cluster says: a kubelet reports its own addresses, and Ansible templates the values of an
inventory and runs tasks on its hosts. So only names and addresses of a plain form get into the file.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

# A DNS subdomain of RFC 1123, as the API server demands it of a node's name:
# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names
_LABEL = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_DNS_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*\Z")
# Names of the machine that Ansible runs on, and of groups, which no host should share.
_RESERVED = frozenset(("localhost", "127.0.0.1", "::1", "all", "ungrouped", "nodes", "workers"))
# Names that hosts files give to the machine itself: localhost4, ip6-localhost, localhost.localdomain, x.localhost.
_LOCAL_NAME = re.compile(r"(?:ip6-)?(?:localhost|loopback)\d?(?:\.|\Z)|.*\.localhost\Z")
_ALL = ipaddress.IPv4Address("255.255.255.255")
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
_MAX_SHOWN = 80


class Inventory(NamedTuple):
    """The text of an inventory file, the names of the nodes in it, and a sentence for each node that was left out."""

    text: str
    written: list[str]
    left_out: list[str]


def inventory_of(nodes: Iterable[Mapping[str, Any]]) -> Inventory:
    """Return the inventory of these nodes, which are facts as k8s_node_info returns them."""
    groups: dict[str, list[str]] = {"control_plane": [], "workers": []}
    written: list[str] = []
    left_out: list[str] = []
    for node in nodes:
        name, address = str(node.get("name") or ""), str(node.get("internal_ip") or node.get("name") or "")
        problem = _problem(name, address)
        if problem:
            left_out.append(problem)
            continue
        written.append(name)
        group = "control_plane" if _CONTROL_PLANE in (node.get("labels") or {}) else "workers"
        groups[group].append(_host(name, address))
    return Inventory(_text(groups), written, left_out)


def is_dns_name(text: str) -> bool:
    """Return whether a text is a name that the API server accepts of a node."""
    return _DNS_NAME.match(text) is not None


def is_address(text: str) -> bool:
    """Return whether a text is an IP address, or a host name, of another machine than this one.

    A scope (C(fe80::1%eth0)) may hold any text, and a name whose last part begins with a digit may be read as a number
    by the resolver, so neither counts.
    """
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        last = text.rpartition(".")[2]
        return is_dns_name(text) and text not in _RESERVED and not last[:1].isdigit() and not _LOCAL_NAME.match(text)
    # An IPv4 address that an IPv6 address holds is what a connection goes to.
    found = getattr(found, "ipv4_mapped", None) or found
    return "%" not in text and not (found.is_loopback or found.is_unspecified or found.is_multicast or found == _ALL)


def _problem(name: str, address: str) -> str:
    """Return why a node cannot be a host of the inventory, "" if it can."""
    if not is_dns_name(name):
        return f"The node {_quoted(name)} was left out, because its name is not a DNS name."
    if name in _RESERVED:
        return f"The node {name} was left out, because Ansible has another use for that name."
    if not is_address(address):
        shown = _quoted(address)
        return f"The node {name} was left out, because its address {shown} is not one of another machine."
    return ""


def _quoted(text: str) -> str:
    """Return a text of the cluster in quotes, in ASCII and of bounded length."""
    return json.dumps(text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "...")


def _host(name: str, address: str) -> str:
    # Quoted, because YAML reads some names as numbers, dates or booleans. With the tag !unsafe, ansible-core 2.19 does
    # that even to quoted texts; it is not needed: what was checked above cannot be a template.
    name, address = json.dumps(name), json.dumps(address)
    return f"        {name}: {{node_patch_node: {name}, ansible_host: {address}}}\n"


def _text(groups: Mapping[str, list[str]]) -> str:
    lines = [
        "---\n",
        "# Made by the playbook kubeops.maintenance.inventory. Put your own variables beside this file, not into it.\n",
        "nodes:\n",
        "  children:\n",
    ]
    for group, hosts in groups.items():
        lines += [f"    {group}:\n", "      hosts:\n", *(hosts or ["        {}\n"])]
    return "".join(lines)
