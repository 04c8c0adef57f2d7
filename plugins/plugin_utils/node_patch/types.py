# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find variables of the roles and their playbooks whose values have the wrong type.

Ansible itself checks the variables of a role, but separately for each host, and prints the whole specification with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from .batches import batches_of
from .values import CONNECTION_KEYS, unknown_keys
from .variables import specs

# What a value must be. Values of the last two may hold secrets, or be long, and are not repeated.
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "dict": "a dictionary",
}
_SECRET = ("dict", "list")
_CONNECTIONS = ("node_drain_connection", "node_patch_connection")


def wrong_types(hosts: Iterable[Mapping[str, Any]], playbook: str) -> str:
    """Return in sentences which variables have values of the wrong type, each once; "" if none has.

    hosts: the variables of each; playbook: the first word of its name; its own variables are checked too.
    """
    options = specs()
    found = [sentence for host in hosts for sentence in (*_of_roles(host, options), *_of_playbook(host, playbook))]
    return " ".join(dict.fromkeys(found))


def _of_roles(host: Mapping[str, Any], options: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for name in sorted(options.keys() & set(host)):
        spec = options[name]
        if spec.get("type", "str") == "str" and "choices" not in spec:
            continue
        for value in _values(host, name):
            # YAML reads off without quotes as false.
            if value is False and "off" in spec.get("choices", ()):
                continue
            shape = {key: spec[key] for key in ("type", "elements", "choices") if key in spec}
            if ArgumentSpecValidator({name: shape}).validate({name: value}).error_messages:
                yield _sentence(name, value, shape)


def _of_playbook(host: Mapping[str, Any], playbook: str) -> Iterator[str]:
    for name in _CONNECTIONS:
        for value in _values(host, name):
            yield from unknown_keys(name, value, CONNECTION_KEYS)
    for value in _values(host, playbook + "_serial"):
        try:
            batches_of([], value)
        except ValueError as exc:
            # It begins with the keyword, whose name the variable's ends in.
            yield f"The variable {playbook}_{exc}."
    for value in _values(host, playbook + "_control_plane"):
        if value not in ("first", "last"):
            yield _sentence(playbook + "_control_plane", value, {"choices": ["first", "last"]})


def _values(host: Mapping[str, Any], name: str) -> list[Any]:
    """Return the variable's value, if it can be known at this point."""
    try:
        value = host[name]
    # A template of the user may raise anything; it is raised again where the variable is used.
    except Exception:
        return []
    unknown = value is None or (isinstance(value, str) and ("{{" in value or value.startswith("__omit_place_holder__")))
    return [] if unknown else [value]


def _sentence(name: str, value: Any, spec: Mapping[str, Any]) -> str:
    kind = spec.get("type", "str")
    choices = ", ".join(map(str, spec.get("choices") or ()))
    if kind in _SECRET:
        many = {"dict": " of dictionaries", "str": ""}.get(spec.get("elements", "str"), "")
        among = f", each of {choices}" if "choices" in spec else ""
        return f"The variable {name} must be {_WORDS[kind]}{many}{among}."
    wanted = f"one of {choices}" if "choices" in spec else _WORDS[kind]
    return f"The variable {name} is {value!r}, but must be {wanted}."
