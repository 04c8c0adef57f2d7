# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declare the connection options: names, aliases and environment variables of kubernetes.core, one for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleFallbackNotFound, env_fallback

from ..connection.secrecy import is_content, passwords_in, secrets_of_command, secrets_of_kubeconfig

# Which environment variable an option's value came from. Ansible calls a fallback only where the task does not set the
# option, and does not record that it did.
_TAKEN: dict[tuple[str, ...], str] = {}


def set_in_environment(*names: str) -> str:
    """Return the first of the environment variables that is set and not empty; AWX leaves some of them empty."""
    for name in names:
        try:
            value = str(env_fallback(name))
        except AnsibleFallbackNotFound:
            continue
        if value.strip():
            _TAKEN[names] = name
            return value
    raise AnsibleFallbackNotFound


def variables_taken() -> dict[str, str]:
    """Return for each option whose value came from an environment variable the variable's name."""
    asked = {option: tuple(spec["fallback"][1]) for option, spec in AUTH_SPEC.items()}
    return {option: _TAKEN[names] for option, names in asked.items() if names in _TAKEN}


def truth_in_environment(*names: str) -> bool:
    """Return false if the variable says 0, false or no in any case, true for everything else."""
    return set_in_environment(*names).strip().lower() not in ("0", "false", "no")


def headers_in_environment(*prefixes: str) -> dict[str, str]:
    """Return proxy_headers from one variable for each of its keys."""
    found = {}
    for key in PROXY_HEADERS_SPEC:
        try:
            found[key] = set_in_environment(*(prefix + key.upper() for prefix in prefixes))
        except AnsibleFallbackNotFound:
            continue
    if not found:
        raise AnsibleFallbackNotFound
    return found


PROXY_HEADERS_SPEC: dict[str, dict[str, Any]] = {
    "proxy_basic_auth": {"type": "str", "no_log": True},
    "basic_auth": {"type": "str", "no_log": True},
    "user_agent": {"type": "str"},
}

AUTH_SPEC: dict[str, dict[str, Any]] = {
    "host": {"type": "str", "fallback": (set_in_environment, ["K8S_AUTH_HOST"])},
    "api_key": {"type": "str", "no_log": True, "fallback": (set_in_environment, ["K8S_AUTH_API_KEY"])},
    "kubeconfig": {"type": "raw", "fallback": (set_in_environment, ["K8S_AUTH_KUBECONFIG"])},
    "context": {"type": "str", "fallback": (set_in_environment, ["K8S_AUTH_CONTEXT"])},
    "username": {"type": "str", "fallback": (set_in_environment, ["K8S_AUTH_USERNAME"])},
    "password": {"type": "str", "no_log": True, "fallback": (set_in_environment, ["K8S_AUTH_PASSWORD"])},
    "client_cert": {
        "type": "path",
        "aliases": ["cert_file"],
        "fallback": (set_in_environment, ["K8S_AUTH_CLIENT_CERT", "K8S_AUTH_CERT_FILE"]),
    },
    "client_key": {
        "type": "path",
        "aliases": ["key_file"],
        "no_log": False,
        "fallback": (set_in_environment, ["K8S_AUTH_CLIENT_KEY", "K8S_AUTH_KEY_FILE"]),
    },
    "ca_cert": {
        "type": "path",
        "aliases": ["ssl_ca_cert"],
        "fallback": (set_in_environment, ["K8S_AUTH_CA_CERT", "K8S_AUTH_SSL_CA_CERT"]),
    },
    "validate_certs": {
        "type": "bool",
        "aliases": ["verify_ssl"],
        "fallback": (truth_in_environment, ["K8S_AUTH_VALIDATE_CERTS", "K8S_AUTH_VERIFY_SSL"]),
    },
    "proxy": {"type": "str", "fallback": (set_in_environment, ["K8S_AUTH_PROXY"])},
    "no_proxy": {"type": "str", "fallback": (set_in_environment, ["K8S_AUTH_NO_PROXY"])},
    "proxy_headers": {
        "type": "dict",
        "options": PROXY_HEADERS_SPEC,
        "fallback": (headers_in_environment, ["K8S_AUTH_PROXY_HEADERS_"]),
    },
    "persist_config": {"type": "bool", "fallback": (truth_in_environment, ["K8S_AUTH_PERSIST_CONFIG"])},
    "impersonate_user": {"type": "str", "fallback": (set_in_environment, ["K8S_AUTH_IMPERSONATE_USER"])},
    "impersonate_groups": {
        "type": "list",
        "elements": "str",
        "fallback": (set_in_environment, ["K8S_AUTH_IMPERSONATE_GROUPS"]),
    },
}


def secret_values(params: Mapping[str, Any]) -> set[str]:
    """Return the secrets in options that are not secret as a whole: kubeconfigs, passwords in addresses, keys as text.

    params: validated or not. To be added to C(AnsibleModule.no_log_values).
    """
    found = secrets_of_kubeconfig(params.get("kubeconfig"))
    for option in ("proxy", "host", "no_proxy"):
        found |= passwords_in(str(params.get(option) or ""))
    for option, spec in AUTH_SPEC.items():
        for name in (option, *spec.get("aliases", ())):
            value = params.get(name)
            # A key or its certificate in place of the path of one, and headers that are not the dict they should be.
            if isinstance(value, str) and (
                (spec["type"] == "path" and is_content(value)) or (spec["type"] == "dict" and value)
            ):
                found |= secrets_of_command(["--secret", value], {})
    return found
