# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose where the connection's settings come from, and let the task's options override what was loaded.

The order is that of kubernetes.core: host with a credential needs nothing else; then a kubeconfig or context that is
named; then the account of the pod this runs in; then ~/.kube/config. A file named by the environment variable
KUBECONFIG counts as named: somebody has set it, while a pod's account is there unasked.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .credentials import Credential, Fixed, TokenFile, bearer
from .errors import InvalidConfiguration
from .impersonation import Impersonation
from .kubeconfig import Kubeconfig, Selection, read_kubeconfig, select_context
from .kubeconfig_user import ProviderLogin, credential_of, impersonation_of, tls_of
from .proxies import Proxy, basic, choose_proxy
from .server_address import ServerAddress, join_host_port, parse_server
from .tls import TlsMaterial, read_pem
from .waiting import Clock

DEFAULT_KUBECONFIG = "~/.kube/config"


@dataclass(frozen=True)
class Surroundings:
    """What is outside the task: environment variables, a pod's account files, the clock, the client library."""

    environment: Mapping[str, str]
    account_token: str
    account_ca: str
    clock: Clock
    provider: ProviderLogin


@dataclass(frozen=True)
class Settings:
    """Everything a connection is made of. C(identity) says as whom, for humans; fixed: nothing to load again."""

    server: ServerAddress
    credential: Credential
    tls: TlsMaterial
    proxy: Proxy | None
    impersonation: Impersonation
    namespace: str
    identity: str
    fixed: bool


@dataclass(frozen=True)
class _Loaded:
    """What a source gave, before the options override it."""

    server: ServerAddress | None = None
    credential: Credential = field(default_factory=Credential)
    tls: TlsMaterial = field(default_factory=TlsMaterial)
    proxy_url: str = ""
    impersonation: Impersonation = field(default_factory=Impersonation)
    namespace: str = "default"
    identity: str = "anonymous"
    fixed: bool = True


def find_settings(params: Mapping[str, Any], around: Surroundings) -> Settings:
    """Return the settings that the options and the surroundings give together."""
    loaded = _load(params, around)
    host = _text(params, "host")
    server = parse_server(host, "option host") if host else loaded.server
    if server is None:
        raise InvalidConfiguration(
            "Nothing says which cluster to use: give kubeconfig, or host with api_key (K8S_AUTH_KUBECONFIG,"
            " K8S_AUTH_HOST and K8S_AUTH_API_KEY do too); there is no %s, and this is no pod." % DEFAULT_KUBECONFIG
        )
    own = _own_credential(params)
    impersonation = loaded.impersonation.overridden(params.get("impersonate_user"), params.get("impersonate_groups"))
    impersonation.check()
    return Settings(
        server=server,
        credential=loaded.credential if own is None else own,
        tls=_own_tls(params, loaded.tls),
        proxy=choose_proxy(server, params, loaded.proxy_url, around.environment),
        impersonation=impersonation,
        namespace=loaded.namespace,
        identity=_own_identity(params) or loaded.identity,
        fixed=loaded.fixed,
    )


def _load(params: Mapping[str, Any], around: Surroundings) -> _Loaded:
    if _text(params, "host") and _is_credential_given(params):
        return _Loaded()
    context = _text(params, "context")
    if params.get("kubeconfig"):
        return _from_kubeconfig(read_kubeconfig(params["kubeconfig"], "option kubeconfig"), params, around)
    named = around.environment.get("KUBECONFIG", "").strip(os.pathsep)
    if named:
        return _from_kubeconfig(read_kubeconfig(named, "environment variable KUBECONFIG"), params, around)
    if not context:
        pod = _from_pod(around)
        if pod is not None:
            return pod
        if not os.path.exists(os.path.expanduser(DEFAULT_KUBECONFIG)):
            return _Loaded()
    return _from_kubeconfig(read_kubeconfig(DEFAULT_KUBECONFIG, "the default path"), params, around)


def _from_kubeconfig(config: Kubeconfig, params: Mapping[str, Any], around: Surroundings) -> _Loaded:
    chosen = select_context(config, _text(params, "context"))
    server = _server_of(chosen, bool(_text(params, "host")))
    own = _own_credential(params) is not None
    user = "user '%s'" % chosen.user.name if chosen.user else "no user"
    return _Loaded(
        server=server,
        # The task's credential replaces the user whole: servers look at a client certificate before any token.
        credential=Credential() if own else credential_of(chosen, around.clock, around.provider),
        tls=tls_of(chosen, with_user=not own),
        proxy_url=chosen.cluster.text("proxy-url"),
        impersonation=Impersonation() if own else Impersonation(*impersonation_of(chosen)),
        namespace=chosen.context.text("namespace") or "default",
        identity="%s of context '%s' (%s)" % (user, chosen.context.name, chosen.origin),
        fixed=False,
    )


def _server_of(chosen: Selection, overridden: bool) -> ServerAddress | None:
    if overridden:
        return None
    server = chosen.cluster.text("server")
    if not server:
        raise InvalidConfiguration(
            "The cluster '%s' in %s has no server: add its address." % (chosen.cluster.name, chosen.origin)
        )
    return parse_server(server, "cluster '%s' in %s" % (chosen.cluster.name, chosen.origin))


def _from_pod(around: Surroundings) -> _Loaded | None:
    """Return the settings of the pod that this runs in, None outside of one (no address, or no account mounted)."""
    host = around.environment.get("KUBERNETES_SERVICE_HOST", "").strip("[] ")
    port = around.environment.get("KUBERNETES_SERVICE_PORT", "").strip()
    if not host or not port or not (os.path.isfile(around.account_token) and os.path.isfile(around.account_ca)):
        return None
    return _Loaded(
        server=parse_server("https://" + join_host_port(host, port), "environment variable KUBERNETES_SERVICE_HOST"),
        credential=TokenFile(around.account_token, "service account of this pod"),
        tls=TlsMaterial(ca=read_pem(around.account_ca, "CA of this pod's service account")),
        namespace=_pod_namespace(around.account_token),
        identity="the service account of this pod",
        fixed=False,
    )


def _pod_namespace(token_file: str) -> str:
    try:
        with open(os.path.join(os.path.dirname(token_file), "namespace"), encoding="utf-8") as file:
            return file.read().strip() or "default"
    except (OSError, ValueError):
        return "default"


def _is_credential_given(params: Mapping[str, Any]) -> bool:
    return any(_text(params, name) for name in ("api_key", "username", "client_cert"))


def _own_credential(params: Mapping[str, Any]) -> Credential | None:
    """Return the credential among the options, None if there is none."""
    token, user, password = (_text(params, name) for name in ("api_key", "username", "password"))
    if token and (user or password):
        raise InvalidConfiguration("Both api_key and username with password are given: only one of them can be used.")
    if bool(user) != bool(password):
        raise InvalidConfiguration("Only one of username and password is given: give both, or api_key.")
    if token:
        return Fixed(bearer(token, "option api_key"))
    if user:
        return Fixed(basic("%s:%s" % (user, password)))
    # A certificate says who is calling; a token beside it would say somebody else.
    return Credential() if _text(params, "client_cert") else None


def _own_identity(params: Mapping[str, Any]) -> str:
    if _text(params, "api_key"):
        return "the given api_key"
    if _text(params, "username"):
        return "user '%s'" % _text(params, "username")
    return "the given client certificate" if _text(params, "client_cert") else ""


def _own_tls(params: Mapping[str, Any], loaded: TlsMaterial) -> TlsMaterial:
    own = loaded
    if params.get("validate_certs") is not None:
        own = replace(own, verify=bool(params["validate_certs"]))
    if _text(params, "ca_cert"):
        own = replace(own, ca=read_pem(_text(params, "ca_cert"), "ca_cert"))
    if _text(params, "client_cert"):
        own = replace(own, certificate=read_pem(_text(params, "client_cert"), "client_cert"), key=None)
    if _text(params, "client_key"):
        own = replace(own, key=read_pem(_text(params, "client_key"), "client_key"))
    return own


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    return "" if value is None else str(value).strip()
