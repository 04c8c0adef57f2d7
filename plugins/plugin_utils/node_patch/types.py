# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find variables of the roles and their playbooks that hold something of another type than they should.

Ansible itself checks the variables of a role, but for each host anew, and shows the whole specification with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from .batches import batches_of
from .values import CONNECTION_KEYS, strange_keys
from .variables import specs

# What a value must be. Values of the last two may hold secrets, or be long, and are not repeated.
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "dict": "a dictionary",
}
_UNSAID = ("dict", "list")
_CONNECTIONS = ("node_drain_connection", "node_patch_connection")


def mistyped(hosts: Iterable[Mapping[str, Any]], playbook: str) -> str:
    """Return in sentences which variables hold what they cannot, each once; nothing if there are none.

    hosts: the variables of each; playbook: the first word of the name of one, whose own variables are looked at, too.
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
            yield from strange_keys(name, value, CONNECTION_KEYS)
    for value in _values(host, playbook + "_serial"):
        try:
            batches_of([], value)
        except ValueError as exc:
            # It begins with the keyword, whose name the variable's ends in.
            yield "The variable %s_%s." % (playbook, exc)
    for value in _values(host, playbook + "_control_plane"):
        if value not in ("first", "last"):
            yield _sentence(playbook + "_control_plane", value, {"choices": ["first", "last"]})


def _values(host: Mapping[str, Any], name: str) -> list[Any]:
    """Return the variable's value, if it has one that can be told before its turn has come."""
    try:
        value = host[name]
    # Whatever a template of the user's may raise; it will be raised again where the variable is used.
    except Exception:
        return []
    unknown = value is None or (isinstance(value, str) and ("{{" in value or value.startswith("__omit_place_holder__")))
    return [] if unknown else [value]


def _sentence(name: str, value: Any, spec: Mapping[str, Any]) -> str:
    kind = spec.get("type", "str")
    if kind in _UNSAID:
        many = {"dict": " of dictionaries", "str": ""}.get(spec.get("elements", "str"), "")
        among = ", each of %s" % ", ".join(map(str, spec["choices"])) if "choices" in spec else ""
        return "The variable %s must be %s%s%s." % (name, _WORDS[kind], many, among)
    wanted = "one of %s" % ", ".join(map(str, spec["choices"])) if "choices" in spec else _WORDS[kind]
    return "The variable %s is %r, but must be %s." % (name, value, wanted)
