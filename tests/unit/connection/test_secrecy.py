# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets never reach errors, logs or the disk."""

from __future__ import annotations

import base64
import logging
import os
import tempfile
import traceback

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.connection import secrecy, tls
from ansible_collections.kubeops.maintenance.plugins.module_utils.connection.connection import connect
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidConfiguration
from connection.situations import ask, kubeconfig, write

SECRET = "s3cret-s3cret-s3cret"


@pytest.fixture
def inline(api, pki):
    """Return a kubeconfig that holds all certificates itself."""
    user = {
        "client-certificate-data": base64.b64encode(pki.alice.cert).decode(),
        "client-key-data": base64.b64encode(pki.alice.key).decode(),
    }
    return kubeconfig(api.url, user, certificate_authority_data=base64.b64encode(pki.ca.pem).decode())


@pytest.fixture
def scratch(monkeypatch, tmp_path):
    """Return the only folder that temporary files can go to."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no files in memory")
def test_inline_certificates_never_touch_the_disk(connected, api, inline, scratch) -> None:
    # Without the folder, any temporary file would be an error.
    scratch.rmdir()
    ask(connected(kubeconfig=inline))
    assert api.asked[-1].client == "alice"


@pytest.mark.parametrize("missing", ["memory", "memory and /dev/fd"])
def test_inline_certificates_leave_nothing_where_they_need_files(
    monkeypatch, connected, api, inline, scratch, missing
) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    if "fd" in missing:
        exists = os.path.exists
        monkeypatch.setattr(tls.os.path, "exists", lambda path: not str(path).startswith("/dev/fd") and exists(path))
    connection = connected(kubeconfig=inline)
    assert list(scratch.iterdir()) == []
    ask(connection)
    assert api.asked[-1].client == "alice"


def test_failing_halfway_leaves_nothing(monkeypatch, connected, inline, scratch) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    inline["users"][0]["user"]["client-key-data"] = base64.b64encode(b"no key").decode()
    with pytest.raises(InvalidConfiguration):
        connected(kubeconfig=inline)
    assert list(scratch.iterdir()) == []


def broken(user=None, **params):
    """Return options that lead to an error while they hold the secret."""
    return {"kubeconfig": kubeconfig("https://api.test", user), **params}


EXEC = {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh"}


@pytest.mark.parametrize(
    "params",
    [
        {"host": "https://api.test", "api_key": SECRET + "\n" + SECRET},
        {"host": "https://api.test", "api_key": "k", "password": SECRET},
        {"host": f"https://me:{SECRET}@api.test", "api_key": "k"},
        {"host": "https://api.test", "api_key": "k", "proxy": f"ftp://me:{SECRET}@proxy"},
        {"host": "https://api.test", "username": "u", "password": SECRET, "ca_cert": "/no/file"},
        {"host": f"https://me:1#{SECRET}@api.test", "api_key": "k"},
        {"host": f"https://me:1/{SECRET}@api.test", "api_key": "k"},
        {"host": "https://api.test", "api_key": "k", "proxy": f"http://me:1#{SECRET}@proxy"},
        {"host": "https://api.test", "api_key": "k", "proxy": f"me:1/{SECRET}@proxy"},
        {"host": "https://api.test", "client_cert": "-----BEGIN CERTIFICATE-----\n" + SECRET},
        {"kubeconfig": f"users:\n- token: {SECRET}\n"},
        {"kubeconfig": f"users: - token: {SECRET}"},
        {"kubeconfig": [f"users: - token: {SECRET}"]},
        {"kubeconfig": SECRET * 20},
        broken({"token": SECRET, "username": "u", "password": SECRET}),
        broken({"token": SECRET + " " + SECRET}),
        broken({"token": SECRET}, context="none"),
        broken({"client-key-data": SECRET}),
        broken({"client-certificate-data": base64.b64encode(SECRET.encode()).decode()}),
        broken({"exec": {**EXEC, "args": ["-c", f"echo {SECRET}"]}}),
        broken({"exec": {**EXEC, "args": ["-c", f"echo {SECRET} >&2; exit 1"]}}),
        broken({"exec": {**EXEC, "args": ["-c", "echo $P >&2; exit 1"], "env": [{"name": "P", "value": SECRET}]}}),
        broken({"exec": {**EXEC, "args": [SECRET + "\0"]}}),
        broken({"auth-provider": {"name": "gcp", "config": {"cmd-path": "false", "cmd-args": SECRET}}}),
        broken({"auth-provider": {"name": "oidc", "config": {"id-token": "", "refresh-token": SECRET}}}),
    ],
)
def test_errors_and_logs_hold_no_secret(connected, caplog, params) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(InvalidConfiguration) as caught:
        connected(**params)
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value.details) + caplog.text
    assert SECRET not in told


def test_kubeconfig_that_is_not_yaml_is_not_quoted(connected, tmp_path) -> None:
    path = write(tmp_path / "config", f"users:\n- token: '{SECRET}\n  x: [")
    with pytest.raises(InvalidConfiguration) as caught:
        connected(kubeconfig=path)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_connection_shows_no_secret(connected) -> None:
    connection = connected(kubeconfig=kubeconfig("https://api.test", {"token": SECRET}), proxy=f"http://u:{SECRET}@p")
    assert SECRET not in connection.describe() + repr(connection) + repr(vars(connection)) + str(connection.base_url)


def test_requests_are_not_logged_with_their_secrets(connected, api, ca_file, caplog) -> None:
    connection = connected(host=api.url, api_key=SECRET, ca_cert=ca_file)
    with caplog.at_level(logging.DEBUG):
        ask(connection)
    assert SECRET not in caplog.text


def test_closing_twice_is_harmless(api) -> None:
    connection = connect({"host": api.url, "api_key": "t"})
    connection.close()
    connection.close()


@pytest.mark.parametrize("token, kept", [(SECRET, {SECRET}), ("node", set())])
def test_what_proves_who_calls_is_known_as_a_secret(connected, api, ca_file, token, kept) -> None:
    connection = connected(kubeconfig=kubeconfig(api.url, {"token": token}, certificate_authority=ca_file))
    connection.headers()
    assert connection.secrets == kept


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("http://u:p%40ss@proxy:3128", {"p%40ss", "p@ss"}),
        ("u:pw@proxy:3128", {"pw"}),
        ("http://u:a#b/c@proxy", {"a#b/c"}),
        ("http://u:a@b@proxy", {"a@b"}),
        ("https://a-token-of-25-characters@proxy", {"a-token-of-25-characters"}),
        ("https://me@proxy", set()),
        ("https://proxy:3128/path", set()),
        ("", set()),
    ],
)
def test_passwords_of_addresses_are_known_however_they_are_written(text, found) -> None:
    assert secrecy.passwords_in(text) == found


@pytest.mark.parametrize(
    ("args", "env", "found"),
    [
        (["get-token", "--cluster", "prod", "--use-token=true", "-v", "1"], {}, set()),
        (["--client-secret=abc", "--password", "x1", "--token", "-v"], {}, {"abc", "x1"}),
        (["-c", "plug --api-key=abc; token: def"], {}, {"plug --api-key=abc; token: def", "abc", "def"}),
        (
            [],
            {"MY_PAT": "abc", "PATH": "/bin", "X_KEY": "0", "TOKEN_FILE": "/t", "DB_PASSWD": "a\nbc"},
            {"abc", "a\nbc", "bc"},
        ),
        (
            [],
            {"HTTPS_PROXY": "http://u:pw@p", "ANY": "twelve-signs"},
            {"http://u:pw@p", "u", "pw@p", "pw", "twelve-signs"},
        ),
        ([], {"CONFIG": '{"client_secret": "abc", "n": 1}'}, {'{"client_secret": "abc", "n": 1}', "abc"}),
    ],
)
def test_secrets_of_a_command_go_by_the_name_or_by_their_length(args, env, found) -> None:
    # Parts of an address are too short to count.
    assert secrecy.secrets_of_command(args, env) == found - {"u", "pw@p"}


def test_what_a_kubeconfig_uses_as_a_name_stays_readable() -> None:
    document = kubeconfig("https://production-eu.test", {"exec": {"args": ["--cluster=production-eu", "0123456789ab"]}})
    assert secrecy.secrets_of_kubeconfig(document) == {"0123456789ab"}


@pytest.mark.parametrize("given", ["/etc/kubeconfig", "~/a b:/c", "kube", "C:\\kube", "/a/" + "b" * 255])
def test_paths_are_no_content(given) -> None:
    assert not secrecy.is_content(given)


def test_a_pem_text_in_base64_is_content_however_short() -> None:
    assert secrecy.is_content(
        base64.b64encode(b"-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n").decode()
    )
