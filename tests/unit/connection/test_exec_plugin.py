# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Credential plugins: how they are found, what they are told, what they may give, and every way to fail."""

from __future__ import annotations

import base64
import json
import os
import re
import select
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.connection import exec_plugin
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidConfiguration
from connection.situations import ask, kubeconfig, write

V1 = "client.authentication.k8s.io/v1"
# The clock of these tests stands at 2026-09-21T14:13:20Z.
IN_AN_HOUR = "2026-09-21T15:13:20Z"


def script(path: Path, body: str) -> str:
    """Write a shell script and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(0o755)
    return str(path)


def printing(status: Any, version: str = V1) -> str:
    """Return a script's body that prints an ExecCredential."""
    document = json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status})
    return f"cat <<'EOF'\n{document}\nEOF\n"


def plugin(server: str, command: str, **more: Any) -> dict[str, Any]:
    """Return a kubeconfig whose user has a plugin."""
    return kubeconfig(server, {"exec": {"apiVersion": V1, "command": command, **more}}, insecure_skip_tls_verify=True)


@pytest.fixture
def refusal(connected, api, tmp_path):
    """Return a function that gives the sentence with which a plugin of that body fails."""

    def sentence(body: str, **more: Any) -> str:
        with pytest.raises(InvalidConfiguration) as caught:
            connected(kubeconfig=plugin(api.url, script(tmp_path / "plug", body), **more))
        begin = f"The credential plugin '{tmp_path}/plug' of user 'me' in the kubeconfig dictionary "
        assert caught.value.message.startswith(begin)
        return caught.value.message.removeprefix(begin)

    return sentence


class TestFinding:
    def test_relative_path_belongs_to_the_kubeconfigs_folder(self, seen, api, monkeypatch, tmp_path) -> None:
        script(tmp_path / "x/kube/bin/tok", printing({"token": "relative"}))
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        path = write(tmp_path / "x/kube/config", plugin(api.url, "./bin/tok"))
        assert seen(kubeconfig=path).header("authorization") == "Bearer relative"

    def test_bare_name_is_looked_up_on_path(self, seen, api, monkeypatch, tmp_path) -> None:
        script(tmp_path / "bin/tok", printing({"token": "on-path"}))
        script(tmp_path / "kube/tok", printing({"token": "wrong"}))
        monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
        path = write(tmp_path / "kube/config", plugin(api.url, "tok"))
        assert seen(kubeconfig=path).header("authorization") == "Bearer on-path"

    def test_missing_program(self, connected, api, tmp_path) -> None:
        path = write(tmp_path / "config", plugin(api.url, "no-such-plugin", installHint="Get it at\nhttps://x.test"))
        with pytest.raises(InvalidConfiguration) as caught:
            connected(kubeconfig=path)
        assert caught.value.message == (
            f"The credential plugin 'no-such-plugin' of user 'me' in kubeconfig {path} is not installed on this host or"
            " not executable: install it where the module runs (Get it at https://x.test)."
        )

    def test_missing_program_without_hint(self, connected, api) -> None:
        with pytest.raises(InvalidConfiguration, match=r"install it where the module runs\.$"):
            connected(kubeconfig=plugin(api.url, "no-such-plugin"))

    def test_program_that_is_no_program(self, refusal, tmp_path) -> None:
        (tmp_path / "plug").write_text("")
        assert refusal("").startswith("did not print an ExecCredential in JSON")


class TestBeingTold:
    """What the plugin gets: arguments, environment, KUBERNETES_EXEC_INFO."""

    @pytest.fixture
    def told(self, connected, api, tmp_path):
        """Return a function that runs a plugin and returns what it was told."""

        def run(**more: Any) -> tuple[str, dict[str, Any]]:
            note = tmp_path / "note"
            body = f'printf "%s|%s|" "$*" "$EXTRA" >{note}; printf %s "$KUBERNETES_EXEC_INFO" >>{note}\n'
            command = script(tmp_path / "plug", body + printing({"token": "t"}))
            cluster = more.pop("cluster", {})
            document = plugin(api.url, command, **more)
            document["clusters"][0]["cluster"].update(cluster)
            connected(kubeconfig=document)
            args, extra, info = note.read_text().split("|", 2)
            return f"{args}|{extra}", json.loads(info)

        return run

    def test_arguments_and_environment(self, told) -> None:
        assert told(args=["get", "token"], env=[{"name": "EXTRA", "value": "more"}])[0] == "get token|more"

    def test_null_equals_absent(self, told) -> None:
        assert told(args=None, env=None)[0] == "|"

    def test_no_terminal_and_no_cluster(self, told) -> None:
        assert told()[1] == {"apiVersion": V1, "kind": "ExecCredential", "spec": {"interactive": False}}

    def test_cluster_if_it_asks_for_it(self, told, api) -> None:
        extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}}
        more = {"tls-server-name": "n", "proxy-url": "http://127.0.0.1:1", "extensions": [extension]}
        assert told(provideClusterInfo=True, cluster=more)[1]["spec"]["cluster"] == {
            "server": api.url,
            "tls-server-name": "n",
            "insecure-skip-tls-verify": True,
            "proxy-url": "http://127.0.0.1:1",
            "config": {"audience": "a"},
        }

    def test_certificate_of_the_cluster_as_data(self, told, ca_file, pki) -> None:
        cluster = told(provideClusterInfo=True, cluster={"certificate-authority": ca_file})[1]["spec"]["cluster"]
        assert base64.b64decode(cluster["certificate-authority-data"]) == pki.ca.pem

    def test_missing_version_means_v1(self, told) -> None:
        assert told(apiVersion=None)[1]["apiVersion"] == V1


class TestCredentials:
    def test_client_certificate(self, seen, api, pki, tmp_path) -> None:
        status = {"clientCertificateData": pki.alice.cert.decode(), "clientKeyData": pki.alice.key.decode()}
        asked = seen(kubeconfig=plugin(api.url, script(tmp_path / "plug", printing(status))))
        assert (asked.client, asked.header("authorization")) == ("alice", "")

    def test_certificate_and_token(self, seen, api, pki, tmp_path) -> None:
        status = {
            "clientCertificateData": pki.alice.cert.decode(),
            "clientKeyData": pki.alice.key.decode(),
            "token": "t",
        }
        asked = seen(kubeconfig=plugin(api.url, script(tmp_path / "plug", printing(status))))
        assert (asked.client, asked.header("authorization")) == ("alice", "Bearer t")

    def test_with_tls_server_name(self, seen, api, ca_file, tmp_path) -> None:
        document = plugin(f"https://127.0.0.1:{api.port}", script(tmp_path / "plug", printing({"token": "t"})))
        document["clusters"][0]["cluster"] = {
            "server": api.url,
            "certificate-authority": ca_file,
            "tls-server-name": "other.test",
        }
        asked = seen(kubeconfig=document)
        assert (asked.server_name, asked.header("authorization")) == ("other.test", "Bearer t")

    def test_static_token_comes_first(self, seen, api) -> None:
        document = plugin(api.url, "no-such-plugin")
        document["users"][0]["user"]["token"] = "static"
        assert seen(kubeconfig=document).header("authorization") == "Bearer static"

    @pytest.mark.parametrize("version", ["v1beta1", "v1alpha1"])
    def test_older_versions(self, seen, api, tmp_path, version) -> None:
        version = "client.authentication.k8s.io/" + version
        command = script(tmp_path / "plug", printing({"token": "t"}, version))
        assert seen(kubeconfig=plugin(api.url, command, apiVersion=version)).header("authorization") == "Bearer t"


class TestRenewal:
    """A plugin that counts its runs: the first gives tok-1, the second tok-2."""

    @pytest.fixture
    def counting(self, api, tmp_path):
        def build(expires: str, then: str = "") -> dict[str, Any]:
            status = {"token": "tok-@", "expirationTimestamp": expires}
            body = f"echo x >>{tmp_path}/runs; n=$(wc -l <{tmp_path}/runs); [ $n -gt 1 ] && {{ {then or ':'}; }}\n"
            body += printing(status).replace("cat <<", "sed s/@/$n/ <<")
            return plugin(api.url, script(tmp_path / "plug", body))

        return build

    def test_after_a_401(self, connected, api, counting) -> None:
        connection = connected(kubeconfig=counting(IN_AN_HOUR))
        api.refused.add("tok-1")
        assert ask(connection) == 401
        assert connection.refresh() is True
        assert ask(connection) == 200
        assert [asked.header("authorization") for asked in api.asked] == ["Bearer tok-1", "Bearer tok-2"]

    def test_not_while_the_token_is_good(self, connected, counting, clock, tmp_path) -> None:
        connection = connected(kubeconfig=counting(IN_AN_HOUR))
        clock.now += 3600 - 61
        assert connection.headers()["Authorization"] == "Bearer tok-1"

    def test_shortly_before_it_expires(self, connected, counting, clock) -> None:
        connection = connected(kubeconfig=counting(IN_AN_HOUR))
        clock.now += 3600 - 59
        assert connection.headers()["Authorization"] == "Bearer tok-2"

    def test_short_lived_token_is_not_renewed_for_each_request(self, connected, counting, clock) -> None:
        connection = connected(kubeconfig=counting("2026-09-21T14:14:20Z"))
        clock.now += 50
        assert connection.headers()["Authorization"] == "Bearer tok-1"

    @pytest.mark.parametrize(
        "expires", ["2026-09-21T17:13:20+02:00", "2026-09-21T09:43:20.123456789-05:30", "2026-09-21t15:13:20z"]
    )
    def test_forms_of_time(self, connected, counting, clock, expires) -> None:
        connection = connected(kubeconfig=counting(expires))
        clock.now += 3600 - 61
        before = connection.headers()["Authorization"]
        clock.now += 2
        assert (before, connection.headers()["Authorization"]) == ("Bearer tok-1", "Bearer tok-2")

    def test_failing_early_keeps_the_token_to_its_end(self, connected, counting, clock) -> None:
        connection = connected(kubeconfig=counting(IN_AN_HOUR, "exit 1"))
        clock.now += 3600 - 30
        assert connection.headers()["Authorization"] == "Bearer tok-1"

    def test_failing_at_the_end_is_an_error(self, connected, counting, clock) -> None:
        connection = connected(kubeconfig=counting(IN_AN_HOUR, "exit 1"))
        clock.now += 3601
        with pytest.raises(InvalidConfiguration, match="ended with exit code 1"):
            connection.headers()

    def test_new_client_certificate_is_shown(self, connected, api, pki, tmp_path) -> None:
        one, two = (
            json.dumps({"clientCertificateData": user.cert.decode(), "clientKeyData": user.key.decode()})
            for user in (pki.alice, pki.bob)
        )
        (tmp_path / "status").write_text(one)
        body = f'printf \'{{"kind":"ExecCredential","apiVersion":"{V1}","status":\'; cat {tmp_path}/status; echo "}}"\n'
        connection = connected(kubeconfig=plugin(api.url, script(tmp_path / "plug", body)))
        ask(connection)
        (tmp_path / "status").write_text(two)
        connection.refresh()
        ask(connection)
        assert [asked.client for asked in api.asked] == ["alice", "bob"]


class TestFailing:
    """One sentence each, that names program, user and kubeconfig."""

    def test_exit_code_and_last_words(self, refusal) -> None:
        assert refusal("echo Working... >&2; echo 'The session has expired.' >&2; exit 3") == (
            "ended with exit code 3 and wrote 'The session has expired': run it by hand to see why."
        )

    def test_exit_code_alone(self, refusal) -> None:
        assert refusal("exit 3") == "ended with exit code 3: run it by hand to see why."

    @pytest.mark.parametrize(
        "words",
        [
            "bad token=s3cret-s3cret",
            'got {"access_token": "s3cret-s3cret"}',
            "eyJhbGciOiJIUzI1NiJ9.s3cret-s3cret.sig rejected",
            "AKs3cret0123456789012345678901234567890 rejected",
            "s3cret-s3cret is wrong",
            "GET https://me:s3cret@issuer.test/x: refused",
            "Authorization: Bearer s3cret refused, Bearer s3cret",
            "token: Bearer s3cret",
            "bearer s3cret",
            "usage: plug --password s3cret --api-key=s3cret",
        ],
    )
    def test_last_words_without_secrets(self, refusal, words) -> None:
        message = refusal(f"echo '{words}' >&2; exit 1", env=[{"name": "PASS", "value": "s3cret-s3cret"}])
        assert "s3cret" not in message

    @pytest.mark.parametrize("body", ["echo s3cret", "echo '[]'", 'echo \'{"token": "s3cret"}\'', ":"])
    def test_garbage(self, refusal, body) -> None:
        assert refusal(body) == "did not print an ExecCredential in JSON: run it by hand to see what it prints."

    @pytest.mark.parametrize("status", [None, {}, [], {"token": ""}])
    def test_no_credential(self, refusal, status) -> None:
        assert refusal(printing(status)) == (
            "printed neither a token nor a client certificate: run it by hand to see why."
        )

    def test_certificate_without_key(self, refusal) -> None:
        assert refusal(printing({"clientCertificateData": "x"})).startswith("printed a certificate without its key")

    @pytest.mark.parametrize("time", ["tomorrow", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+23:59"])
    def test_bad_time(self, refusal, time) -> None:
        assert refusal(printing({"token": "t", "expirationTimestamp": time})) == (
            "printed an expirationTimestamp that is not an RFC 3339 time: correct the plugin."
        )

    def test_other_version(self, refusal) -> None:
        assert refusal(printing({"token": "t"}, "client.authentication.k8s.io/v1beta1")) == (
            f"printed another apiVersion than the requested {V1}: set exec.apiVersion to the plugin's."
        )

    def test_hanging_is_cut_short_with_all_it_started(self, refusal, monkeypatch, tmp_path) -> None:
        monkeypatch.setattr(exec_plugin, "TIMEOUT", 0.2)
        os.mkfifo(tmp_path / "life")
        life = os.open(tmp_path / "life", os.O_RDONLY | os.O_NONBLOCK)
        message = refusal(f"sleep 30 >{tmp_path}/life & wait")
        # The pipe hangs up when the last process that holds it has ended.
        ended = select.poll()
        ended.register(life, 0)
        events = ended.poll(5000)
        os.close(life)
        assert message == "did not end within 0.2 seconds: it may wait for a login, which a task cannot give."
        assert events == [(life, select.POLLHUP)]

    @pytest.mark.parametrize(
        ("section", "sentence"),
        [
            ({"command": None}, "names no command: add the program to run."),
            ({"interactiveMode": "Always"}, "has interactiveMode Always, and a task has no terminal:"),
            ({"apiVersion": "v1"}, "has an unknown apiVersion: write client.authentication.k8s.io/v1,"),
            ({"args": "get"}, "needs a list of args and a list of name and value as env: correct it."),
        ],
    )
    def test_section(self, connected, api, section, sentence) -> None:
        document = plugin(api.url, "true")
        document["users"][0]["user"]["exec"].update(section)
        begin = "The exec section of user 'me' in the kubeconfig dictionary "
        with pytest.raises(InvalidConfiguration, match="^" + re.escape(begin + sentence)):
            connected(kubeconfig=document)
