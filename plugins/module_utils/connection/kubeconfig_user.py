# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn the user and the cluster of a kubeconfig context into credentials and TLS material."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

from ..errors import InvalidConfiguration
from ..runtime.clock import Clock
from .credentials import Credential, Fixed, Plugin, TokenFile, bearer
from .exec_plugin import API_GROUP, ExecSpec
from .kubeconfig import Entry, Selection
from .proxy import basic
from .tls import Pem, TlsMaterial, read_pem

# Makes the credential of a user that has an auth-provider.
ProviderLogin = Callable[[Selection, Entry], Credential]


def tls_of(selection: Selection, with_user: bool) -> TlsMaterial:
    """Return the context's TLS settings, with or without the user's client certificate.

    The certificate is kept even if verification is off.
    """
    cluster, user = selection.cluster, selection.user if with_user else None
    return TlsMaterial(
        verify=not cluster.true("insecure-skip-tls-verify"),
        ca=_pem(cluster, "cluster", "certificate-authority", selection.origin),
        certificate=_pem(user, "user", "client-certificate", selection.origin) if user else None,
        key=_pem(user, "user", "client-key", selection.origin) if user else None,
        server_name=cluster.text("tls-server-name"),
    )


def credential_of(selection: Selection, clock: Clock, provider: ProviderLogin, left: Callable[[], float]) -> Credential:
    """Return the user's credential: token, then plugin, then user name and password, as kubectl ranks them.

    left: returns the seconds that a plugin may take.
    """
    user = selection.user
    if user is None:
        return Credential()
    name = f"user '{user.name}' in {selection.origin}"
    token, token_file = user.text("token"), user.text("tokenFile")
    login = user.text("username") or user.text("password")
    if (token or token_file) and login:
        raise InvalidConfiguration(f"The {name} has both a token and a user name or password: keep one of them.")
    if user.part("exec") and user.part("auth-provider"):
        raise InvalidConfiguration(f"The {name} has both exec and auth-provider: keep one of them.")
    if token_file:
        return TokenFile(user.path(token_file), "tokenFile of " + name, token)
    if token:
        return Fixed(bearer(token, name))
    if user.part("exec"):
        return Plugin(_exec_spec(selection, user), clock, left)
    if user.part("auth-provider"):
        return provider(selection, user)
    if login:
        return Fixed(basic("{}:{}".format(user.text("username"), user.text("password"))))
    return Credential()


def impersonation_of(selection: Selection) -> tuple[str, list[str], str, dict[str, list[str]]]:
    """Return as, as-groups, as-uid and as-user-extra of the user."""
    user = selection.user
    if user is None:
        return "", [], "", {}
    where = f"of user '{user.name}' in {selection.origin}"
    groups = _texts(user.body.get("as-groups"), "as-groups " + where)
    extra = {str(key): _texts(values, "as-user-extra " + where) for key, values in user.part("as-user-extra").items()}
    return user.text("as"), groups, user.text("as-uid"), extra


def _texts(values: Any, what: str) -> list[str]:
    if not isinstance(values or [], list):
        raise InvalidConfiguration(f"The {what} is not a list: write each entry on a line that begins with a dash.")
    return [str(value) for value in values or []]


def _pem(entry: Entry, kind: str, key: str, origin: str) -> Pem | None:
    name = f"{key} of {kind} '{entry.name}' in {origin}"
    data = entry.text(key + "-data")
    if data:
        try:
            return Pem(base64.b64decode("".join(data.split()), validate=True), name)
        except (binascii.Error, ValueError):
            raise InvalidConfiguration(
                f"The value of {key}-data of {kind} '{entry.name}' in {origin} is not valid base64: copy it again."
            ) from None
    path = entry.text(key)
    return read_pem(entry.path(path), name) if path else None


def _exec_spec(selection: Selection, user: Entry) -> ExecSpec:
    section = Entry(user.name, user.part("exec"), user.file)
    command, version = section.text("command"), section.text("apiVersion")
    where = f"The exec section of user '{user.name}' in {selection.origin}"
    if not command:
        raise InvalidConfiguration(f"{where} names no command: add the program to run.")
    if version and not version.startswith(API_GROUP):
        raise InvalidConfiguration(
            f"{where} has an unknown apiVersion: write {API_GROUP}v1, or the one that the plugin speaks."
        )
    if section.text("interactiveMode") == "Always":
        raise InvalidConfiguration(
            f"{where} has interactiveMode Always, and a task has no terminal: use another user or IfAvailable."
        )
    args, env = section.body.get("args") or [], section.body.get("env") or []
    if not isinstance(args, list) or not isinstance(env, list) or not all(isinstance(item, dict) for item in env):
        raise InvalidConfiguration(f"{where} needs a list of args and a list of name and value as env: correct it.")
    return ExecSpec(
        user=user.name,
        origin=selection.origin,
        # A bare name is searched on PATH, a path is relative to the kubeconfig's folder.
        command=user.path(command) if "/" in command else command,
        args=[str(arg) for arg in args],
        env={str(item.get("name")): _env_text(item.get("value")) for item in env if item.get("name")},
        api_version=version,
        install_hint=section.text("installHint"),
        cluster=_cluster_info(selection) if section.true("provideClusterInfo") else None,
    )


def _env_text(value: Any) -> str:
    return "" if value is None else str(value)


def _cluster_info(selection: Selection) -> dict[str, Any]:
    """Return spec.cluster of KUBERNETES_EXEC_INFO (client.authentication.k8s.io/v1, Cluster)."""
    cluster = selection.cluster
    info: dict[str, Any] = {"server": cluster.text("server")}
    if cluster.text("tls-server-name"):
        info["tls-server-name"] = cluster.text("tls-server-name")
    if cluster.true("insecure-skip-tls-verify"):
        info["insecure-skip-tls-verify"] = True
    if cluster.text("proxy-url"):
        info["proxy-url"] = cluster.text("proxy-url")
    ca = _pem(cluster, "cluster", "certificate-authority", selection.origin)
    if ca is not None:
        info["certificate-authority-data"] = base64.b64encode(ca.data).decode()
    extensions = cluster.body.get("extensions")
    for extension in extensions if isinstance(extensions, list) else []:
        if isinstance(extension, dict) and extension.get("name") == API_GROUP + "exec":
            info["config"] = extension.get("extension")
    return info
