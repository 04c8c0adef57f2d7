# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the credential plugin of a kubeconfig user (client.authentication.k8s.io) in bounded time, and leak nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

from ..errors import InvalidConfiguration
from .secrecy import secrets_of_command, without_logins

# Plugins that renew a login over the network take seconds; one that waits for input would never end.
TIMEOUT = 60.0
# Seconds that a plugin gets even if the task's time is up.
MIN_TIMEOUT = 0.5
API_GROUP = "client.authentication.k8s.io/"
# Requested if the kubeconfig does not name a version; any version is accepted then.
DEFAULT_VERSION = API_GROUP + "v1"
# What may be a secret in a plugin's output: web tokens, runs of letters and digits, what follows token=, --password
# and such, and what follows Bearer, also behind "token:".
_SECRET = re.compile(
    r"eyJ[\w-]+\.[\w.-]+"
    r"|(?i:--[\w-]*(?:token|passw|secret|key)[\w-]*[\s=]+)\S+"
    r"|(?i:(?:token|passw\w*|secret|key|authorization)\w*[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic|negotiate)\s+)?)\S+"
    r"|(?i:\b(?:bearer|basic|negotiate)\s+)[\w.~+/=-]*[\d.~+/=_-][\w.~+/=-]*|(?i:\bbearer[\s:=]+)\S+"
    r"|(?<![\w/.-])(?=[\w+=-]*\d)(?=[\w+=-]*[A-Za-z])[\w+=-]{16,}"
)
_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$")


@dataclass(frozen=True)
class ExecSpec:
    """What to run. user, origin: the kubeconfig user in errors; cluster: passed to the plugin if provideClusterInfo."""

    user: str
    origin: str
    command: str
    args: list[str] = field(repr=False)
    env: dict[str, str] = field(repr=False)
    api_version: str
    install_hint: str
    cluster: dict[str, Any] | None = field(repr=False)

    def failed(self, why: str) -> InvalidConfiguration:
        """Return an error that names program, user and kubeconfig."""
        return InvalidConfiguration(
            f"The credential plugin '{self.command}' of user '{self.user}' in {self.origin} {why}."
        )


@dataclass(frozen=True)
class ExecResult:
    """What a plugin returned: a token, a client certificate, or both. expires: seconds since 1970, None: never."""

    token: str = field(repr=False)
    certificate: str = field(repr=False)
    key: str = field(repr=False)
    expires: float | None


def run_plugin(spec: ExecSpec, seconds: float = TIMEOUT) -> ExecResult:
    """Run the plugin and return its credentials. seconds: how long it may take, at most TIMEOUT."""
    program = shutil.which(spec.command)
    if program is None:
        hint = f" ({' '.join(spec.install_hint.split())})" if spec.install_hint.strip() else ""
        raise spec.failed(f"is not installed on this host or not executable: install it where the module runs{hint}")
    code, output, stderr = _run(program, spec, min(TIMEOUT, max(MIN_TIMEOUT, seconds)))
    if code != 0:
        line = _last_line(stderr, spec)
        wrote = f" and wrote '{line}'" if line else ""
        raise spec.failed(f"ended with exit code {code}{wrote}: run it by hand to see why")
    return _result(output, spec)


def _run(program: str, spec: ExecSpec, seconds: float) -> tuple[int, bytes, bytes]:
    request: dict[str, Any] = {"interactive": False}
    if spec.cluster is not None:
        request["cluster"] = spec.cluster
    info = {"apiVersion": spec.api_version or DEFAULT_VERSION, "kind": "ExecCredential", "spec": request}
    try:
        process = subprocess.Popen(  # noqa: S603
            [program, *spec.args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **spec.env, "KUBERNETES_EXEC_INFO": json.dumps(info)},
            # A group of its own, so that what the plugin started ends with it.
            start_new_session=True,
        )
    except (OSError, ValueError) as exc:
        why = getattr(exc, "strerror", None) or "bad arguments"
        raise spec.failed(f"cannot be started ({why})") from None
    with process:
        try:
            output, stderr = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise spec.failed(
                f"did not end within {seconds:.3g} seconds: it may wait for a login, which a task cannot give"
            ) from None
        finally:
            _end_group(process)
    return process.returncode, output, stderr


def _end_group(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            process.kill()


def _last_line(stderr: bytes, spec: ExecSpec) -> str:
    """Return the last line that a plugin wrote, which says most, shortened and with possible secrets masked."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    text = lines[-1] if lines else ""
    for value in sorted(secrets_of_command(spec.args, spec.env), key=len, reverse=True):
        text = text.replace(value, "***")
    return _SECRET.sub("***", without_logins(text))[:200].rstrip(" .")


def _result(output: bytes, spec: ExecSpec) -> ExecResult:
    try:
        data = json.loads(output)
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("kind") != "ExecCredential":
        raise spec.failed("did not print an ExecCredential in JSON: run it by hand to see what it prints")
    if spec.api_version and data.get("apiVersion") != spec.api_version:
        raise spec.failed(
            f"printed another apiVersion than the requested {spec.api_version}: set exec.apiVersion to the plugin's"
        )
    status = data.get("status")
    status = status if isinstance(status, dict) else {}
    token, certificate, key = (status.get(name) or "" for name in ("token", "clientCertificateData", "clientKeyData"))
    if not all(isinstance(value, str) for value in (token, certificate, key)) or bool(certificate) != bool(key):
        raise spec.failed("printed a certificate without its key, or values that are not text: correct the plugin")
    if not token and not certificate:
        raise spec.failed("printed neither a token nor a client certificate: run it by hand to see why")
    return ExecResult(token, certificate, key, _expiry(status.get("expirationTimestamp"), spec))


def _expiry(text: Any, spec: ExecSpec) -> float | None:
    if not text:
        return None
    found = _TIMESTAMP.match(str(text))
    try:
        if found is None:
            raise ValueError
        moment = datetime.strptime(f"{found[1]}T{found[2]}", "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
        if found.group(3):
            offset = timedelta(hours=int(found.group(4)), minutes=int(found.group(5)))
            moment += offset if found.group(3) == "-" else -offset
    except (ValueError, OverflowError):
        raise spec.failed("printed an expirationTimestamp that is not an RFC 3339 time: correct the plugin") from None
    return moment.timestamp()
