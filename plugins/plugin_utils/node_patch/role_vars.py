# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read variables from an action plugin of the role, without a template in between.

Texts of the cluster are taken as modules returned them, and never templated. Only options are, which the user wrote.
ansible-core before 2.19 makes mappings, lists and booleans of templates' texts that look like them, so an option that
is a text is read as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.module_utils.common.yaml import yaml_load

Record = Mapping[str, Any]


class RoleVars:
    """The variables that a task of the role sees, and the templar for those that the user wrote."""

    def __init__(self, variables: Mapping[str, Any], templar: Any) -> None:
        self.variables = variables
        self._templar = templar
        # ansible-core before 2.19 has to be asked not to convert texts, which deprecates that option.
        self._as_text = {} if hasattr(templar, "evaluate_expression") else {"convert_data": False}

    def result(self, name: str) -> dict[str, Any]:
        """Return the result that a task registered as it is, {} if there is none or its task was skipped."""
        found = self.variables.get(name)
        return dict(found) if isinstance(found, Mapping) and not found.get("skipped") else {}

    def value(self, name: str) -> Any:
        """Return an option, templated; None if it is not set."""
        return self._templar.template(self.variables[name]) if name in self.variables else None

    def text(self, name: str) -> str:
        """Return an option as a text, "" if it is not set or null."""
        if name not in self.variables:
            return ""
        value = self._templar.template(self.variables[name], **self._as_text)
        return "" if value is None else str(value)

    def flag(self, name: str) -> bool:
        """Return whether an option is true, as Ansible's filter bool reads it."""
        return self.text(name).strip().lower() in ("true", "yes", "on", "1")

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return an option that is a dictionary; extra variables of the form key=value are texts."""
        value = self.value(name)
        value = yaml_load(value) if isinstance(value, str) else value
        return value if isinstance(value, Mapping) else {}

    def strings(self, name: str) -> list[str]:
        """Return an option that is a list, or a text with a list in YAML, or one entry."""
        value = self.value(name)
        try:
            value = yaml_load(value) if isinstance(value, str) else value
            return [str(entry) for entry in _flat([value or []])]
        except Exception:  # errors of YAML are of a library that may have any version, and repeat what was given
            raise AnsibleActionFail(f"The variable {name} is not valid YAML: give a list, or one name.") from None

    def host(self) -> str:
        """Return the host's name in the inventory."""
        return str(self.variables["inventory_hostname"])

    def records(self) -> list[Record]:
        """Return the records of all hosts of the play that have one."""
        hosts = self.variables.get("hostvars") or {}
        found = (hosts[host].get("node_patch_record") for host in self.hosts("ansible_play_hosts_all"))
        return [record for record in found if isinstance(record, Mapping) and "state" in record]

    def hosts(self, name: str) -> list[str]:
        """Return the hosts in one of Ansible's own variables, such as ansible_play_batch."""
        return [str(host) for host in self.variables.get(name) or ()]

    def lost_hosts(self) -> list[str]:
        """Return the hosts that Ansible has dropped from the play."""
        left = set(self.hosts("ansible_play_hosts"))
        return [host for host in self.hosts("ansible_play_hosts_all") if host not in left]


def _flat(entries: Iterable[Any]) -> list[Any]:
    return [leaf for entry in entries for leaf in (_flat(entry) if isinstance(entry, (list, tuple)) else [entry])]
