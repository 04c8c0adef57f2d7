# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose where the connection's settings come from, and let the task's options override what was loaded.

The order is that of kubernetes.core: host with a credential needs nothing else; then a kubeconfig or context that is
named; then the account of the pod this runs in; then ~/.kube/config. A file in the environment variable KUBECONFIG
counts as named: it was set on purpose, while a pod's account is always mounted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ..errors import InvalidConfiguration
from ..runtime.clock import Clock
from .credentials import Credential, Fixed, TokenFile, bearer
from .impersonation import Impersonation
from .kubeconfig import Kubeconfig, Selection, read_kubeconfig, select_context
from .kubeconfig_user import ProviderLogin, credential_of, impersonation_of, tls_of
from .options import ConnectionOptions
from .proxy import Proxy, basic, choose_proxy
from .server_address import ServerAddress, join_host_port, parse_server
from .tls import Pem, TlsMaterial, read_pem

DEFAULT_KUBECONFIG = "~/.kube/config"
POD_VARIABLE = "environment variable KUBERNETES_SERVICE_HOST"


@dataclass(frozen=True)
class Surroundings:
    """What is outside the task: environment variables, a pod's account files, the clock, the client library.

    left: returns the seconds that the task has left.
    """

    environment: Mapping[str, str]
    account_token: str
    account_ca: str
    clock: Clock
    provider: ProviderLogin
    left: Callable[[], float]


@dataclass(frozen=True)
class Settings:
    """Everything a connection is made of.

    server_from: where its address is written; identity: as whom, for errors; fixed: there is nothing to load again.
    """

    server: ServerAddress
    credential: Credential
    tls: TlsMaterial
    proxy: Proxy | None
    impersonation: Impersonation
    namespace: str
    identity: str
    fixed: bool
    server_from: str


@dataclass(frozen=True)
class _Loaded:
    """The settings of a source, before the options override them."""

    server: ServerAddress | None = None
    credential: Credential = field(default_factory=Credential)
    tls: TlsMaterial = field(default_factory=TlsMaterial)
    server_from: str = ""
    proxy_url: str = ""
    impersonation: Impersonation = field(default_factory=Impersonation)
    namespace: str = "default"
    identity: str = "anonymous"
    fixed: bool = True


def find_settings(given: ConnectionOptions, around: Surroundings) -> Settings:
    """Return the settings that the options and the surroundings give together."""
    loaded = _load(given, around)
    host = given.text("host")
    server = parse_server(host, given.place("host")) if host else loaded.server
    if server is None:
        raise InvalidConfiguration(
            "Nothing says which cluster to use: give kubeconfig, or host with api_key (K8S_AUTH_KUBECONFIG,"
            f" K8S_AUTH_HOST and K8S_AUTH_API_KEY do too); there is no {DEFAULT_KUBECONFIG}, and this is not a pod."
        )
    own = _own_credential(given)
    return Settings(
        server=server,
        credential=loaded.credential if own is None else own,
        tls=_own_tls(given, loaded.tls),
        proxy=choose_proxy(server, given, loaded.proxy_url, loaded.server_from, around.environment),
        impersonation=loaded.impersonation.overridden(given),
        namespace=loaded.namespace,
        identity=_own_identity(given) or loaded.identity,
        fixed=loaded.fixed,
        server_from=given.place("host") if host else loaded.server_from,
    )


def _load(given: ConnectionOptions, around: Surroundings) -> _Loaded:
    if given.text("host") and _is_credential_given(given):
        return _Loaded()
    if given.value("kubeconfig"):
        return _from_kubeconfig(read_kubeconfig(given.value("kubeconfig"), given.place("kubeconfig")), given, around)
    named = around.environment.get("KUBECONFIG", "").strip(os.pathsep)
    if named:
        return _from_kubeconfig(read_kubeconfig(named, "environment variable KUBECONFIG"), given, around)
    if not given.text("context"):
        pod = _from_pod(around)
        if pod is not None:
            return pod
        if not os.path.exists(os.path.expanduser(DEFAULT_KUBECONFIG)):
            return _Loaded()
    return _from_kubeconfig(read_kubeconfig(DEFAULT_KUBECONFIG, "the default path"), given, around)


def _from_kubeconfig(config: Kubeconfig, given: ConnectionOptions, around: Surroundings) -> _Loaded:
    chosen = select_context(config, given.text("context"), given.place("context"))
    server = _server_of(chosen, bool(given.text("host")))
    own = _own_credential(given) is not None
    user = f"user '{chosen.user.name}'" if chosen.user else "no user"
    return _Loaded(
        server=server,
        server_from=_place_of(chosen),
        # The task's credential replaces the user as a whole: servers prefer a client certificate to any token.
        credential=Credential() if own else credential_of(chosen, around.clock, around.provider, around.left),
        tls=tls_of(chosen, with_user=not own),
        proxy_url=chosen.cluster.text("proxy-url"),
        impersonation=Impersonation() if own else Impersonation(*impersonation_of(chosen)),
        namespace=chosen.context.text("namespace") or "default",
        identity=f"{user} of context '{chosen.context.name}' ({chosen.origin})",
        fixed=False,
    )


def _server_of(chosen: Selection, overridden: bool) -> ServerAddress | None:
    if overridden:
        return None
    server = chosen.cluster.text("server")
    if not server:
        raise InvalidConfiguration(
            f"The cluster '{chosen.cluster.name}' in {chosen.origin} has no server: add its address."
        )
    return parse_server(server, _place_of(chosen))


def _place_of(chosen: Selection) -> str:
    return f"cluster '{chosen.cluster.name}' in {chosen.origin}"


def _from_pod(around: Surroundings) -> _Loaded | None:
    """Return the settings of the pod that this runs in, None outside of one (no address, or no account mounted)."""
    host = around.environment.get("KUBERNETES_SERVICE_HOST", "").strip("[] ")
    port = around.environment.get("KUBERNETES_SERVICE_PORT", "").strip()
    if not host or not port or not (os.path.isfile(around.account_token) and os.path.isfile(around.account_ca)):
        return None
    return _Loaded(
        server=parse_server("https://" + join_host_port(host, port), POD_VARIABLE),
        server_from=POD_VARIABLE,
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


def _is_credential_given(given: ConnectionOptions) -> bool:
    return any(given.text(name) for name in ("api_key", "username", "client_cert"))


def _own_credential(given: ConnectionOptions) -> Credential | None:
    """Return the credential among the options, None if there is none."""
    token, user, password = (given.text(name) for name in ("api_key", "username", "password"))
    if token and (user or password):
        raise InvalidConfiguration(
            "Both {} and username with password are given{}: only one of them can be used.".format(
                given.named("api_key"), _from_variables(given, "username", "password")
            )
        )
    if bool(user) != bool(password):
        raise InvalidConfiguration(
            "Only one of username and password is given{}: give both, or api_key.".format(
                _from_variables(given, "username", "password")
            )
        )
    if token:
        return Fixed(bearer(token, given.place("api_key")))
    if user:
        return Fixed(basic(f"{user}:{password}"))
    # A certificate names the caller; a token beside it would name another one.
    return Credential() if given.text("client_cert") else None


def _from_variables(given: ConnectionOptions, *names: str) -> str:
    """Return which of these options come from environment variables, in brackets; "" if none does."""
    places = [given.place(name) for name in names if name in given.variables]
    return " ({})".format(", ".join(places)) if places else ""


def _own_identity(given: ConnectionOptions) -> str:
    if given.text("api_key"):
        return "the given {}".format(given.named("api_key"))
    if given.text("username"):
        return "user '{}'{}".format(given.text("username"), _from_variables(given, "username"))
    return (
        "the given client certificate{}".format(_from_variables(given, "client_cert"))
        if given.text("client_cert")
        else ""
    )


def _own_tls(given: ConnectionOptions, loaded: TlsMaterial) -> TlsMaterial:
    own = loaded
    if given.value("validate_certs") is not None:
        own = replace(own, verify=bool(given.value("validate_certs")))
    if given.text("ca_cert"):
        own = replace(own, ca=_own_pem(given, "ca_cert"))
    if given.text("client_cert"):
        own = replace(own, certificate=_own_pem(given, "client_cert"), key=None)
    if given.text("client_key"):
        own = replace(own, key=_own_pem(given, "client_key"))
    return own


def _own_pem(given: ConnectionOptions, name: str) -> Pem:
    return read_pem(given.text(name), given.named(name))
