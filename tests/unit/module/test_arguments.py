# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No module shows a credential among its arguments: whatever is wrong with them, and when nothing is."""

from __future__ import annotations

import importlib
import json
import syslog
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils import basic

from ansible_collections.kubeops.maintenance.plugins.module_utils.connection.secrecy import HIDDEN
from ansible_collections.kubeops.maintenance.plugins.module_utils.module.auth_spec import AUTH_SPEC
from ansible_collections.kubeops.maintenance.plugins.module_utils.module.runner import ClusterModule

PLUGINS = Path(__file__).resolve().parents[3] / "plugins"
# What each module needs, so that nothing else is wrong than what a test makes wrong.
NEEDS: dict[str, dict[str, Any]] = {
    "k8s_maintenance_gate": {"name": ["w1"]},
    "k8s_maintenance_lock": {"holder": "me"},
    "k8s_node_drain": {"name": ["w1"]},
    "k8s_node_info": {},
    "k8s_node_mark": {"name": "w1"},
    "k8s_node_wait": {"name": "w1"},
    "k8s_rollout_status": {"kind": "Deployment", "namespace": "shop"},
}
USER = {
    "token": "s3cret-token",
    "password": 5312077,
    "client-key-data": "s3cret\nkey\n",
    "exec": {
        "command": "plug",
        "args": ["--client-secret=s3cret-a", "--password", "s3c", "-c", "login s3cret-b"],
        "env": [
            {"name": "GITHUB_PAT", "value": "s3cret-c"},
            {"name": "API_KEY", "value": "s3c"},
            {"name": "HTTPS_PROXY", "value": "http://u:s3cret-d@proxy:3128"},
        ],
    },
    "auth-provider": {"name": "gcp", "config": {"client-secret": "s3cret-e", "cmd-args": "--x s3cret-f"}},
}
CONFIG = {
    "clusters": [
        {
            "name": "c",
            "cluster": {"server": "https://u:s3cret-g@127.0.0.1:1", "proxy-url": "http://u:s3cret-h@127.0.0.1"},
        }
    ],
    "users": [{"name": "u", "user": USER}],
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    "current-context": "c",
}
HOLDERS: dict[str, dict[str, Any]] = {
    "dictionary": {"kubeconfig": CONFIG},
    "JSON": {"kubeconfig": json.dumps(CONFIG)},
    "YAML": {"kubeconfig": "users:\n- name: u\n  user: {token: s3cret-token, password: 5312077}\n"},
    "folded YAML": {"kubeconfig": "users: - name: u user: {token: s3cret-token}"},
    "base64": {"kubeconfig": "s3cret" * 60},
    "list": {"kubeconfig": [json.dumps(CONFIG), "token: s3cret"]},
    "options": {"host": "127.0.0.1:1", "api_key": "s3cret-token"},
    "host": {"host": "https://u:s3cret/x@127.0.0.1:1", "api_key": "k-123456"},
    "user name": {"host": "https://s3cret-s3cret@127.0.0.1:1"},
    "proxy": {"host": "127.0.0.1:1", "proxy": "u:s3cret-p@127.0.0.1:1", "username": "u", "password": "s3c"},
    "odd proxy": {"host": "127.0.0.1:1", "proxy": "http://u:12#s3cret/x@127.0.0.1:1", "api_key": "k-123456"},
    "no_proxy": {"host": "127.0.0.1:1", "no_proxy": "u:s3cret-p@127.0.0.1:1", "api_key": "k-123456"},
    "headers": {"host": "127.0.0.1:1", "proxy_headers": {"basic_auth": "u:s3cret", "basic_aut": "u:s3c"}},
    "headers as text": {"host": "127.0.0.1:1", "proxy_headers": "u:s3cret"},
    "key": {"host": "127.0.0.1:1", "client_key": "-----BEGIN PRIVATE KEY-----\ns3cret\n", "client_cert": "x"},
    "key as key_file": {"host": "127.0.0.1:1", "key_file": "-----BEGIN PRIVATE KEY----- s3cret"},
    "misspelt": {"host": "127.0.0.1:1", "tokn": "s3c", "kubeconfg": CONFIG, "passwd": ["s3cret"]},
    "misplaced": {"host": "127.0.0.1:1", "context": CONFIG, "progress": CONFIG, "username": ["s3cret"]},
}
WRONG: dict[str, dict[str, Any]] = {
    "nothing but a file": {},
    "unknown option": {"nmae": "w1"},
    "wrong type": {"validate_certs": "perhaps"},
    "no list": {"impersonate_groups": {"a": "b"}},
    "unknown suboption": {"proxy_headers": {"agent": "x"}},
    "suboptions that are none": {"proxy_headers": ["x"]},
    "missing": {"name": None, "holder": None, "kind": None},
    "no choice": {"state": "gone", "progress": "much", "gather": ["x"], "checks": ["x"], "semantics": "x"},
    "exclusive": {"name": ["w1"], "node_selectors": ["a=b"], "label_selectors": ["a=b"]},
    "alias twice": {"client_key": "/a", "key_file": "/b"},
}


@pytest.fixture
def result_of(monkeypatch, capsys) -> Callable[..., str]:
    """Return a function that runs something as a module with arguments, and returns all that it printed."""

    def printed(run: Callable[[], Any], arguments: dict[str, Any]) -> str:
        # Some releases show arguments to nobody but who asks for it.
        asked = {"_ansible_" + name: True for name in ("inject_invocation",) if name in basic.PASS_VARS}
        monkeypatch.setattr(
            basic, "_ANSIBLE_ARGS", json.dumps({"ANSIBLE_MODULE_ARGS": {**arguments, **asked}}).encode()
        )
        # Since ansible-core 2.19 the form of arguments has a name.
        monkeypatch.setattr(basic, "_ANSIBLE_PROFILE", "legacy", raising=False)
        with pytest.raises(SystemExit):
            run()
        captured = capsys.readouterr()
        return str(captured.out + captured.err)

    return printed


def test_no_module_is_forgotten() -> None:
    names = {path.stem for path in (PLUGINS / "modules").glob("k8s_*.py")}
    # Its work is that of an action plugin, which knows no credentials.
    assert names - {"k8s_maintenance_report"} == set(NEEDS)
    without = [name for name in NEEDS if "ClusterModule(" not in (PLUGINS / "modules" / (name + ".py")).read_text()]
    assert without == []


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", NEEDS)
def test_a_task_that_fails_shows_no_secret(result_of, name: str, wrong: str) -> None:
    module = importlib.import_module(f"ansible_collections.kubeops.maintenance.plugins.modules.{name}")
    shown = {}
    for holder, secret in HOLDERS.items():
        # The file that there is not ends the module before it asks a server, if nothing else does.
        arguments = {**NEEDS[name], **secret, "ca_cert": "/no/file", **WRONG[wrong]}
        text = result_of(module.main, {key: value for key, value in arguments.items() if value is not None})
        assert '"failed": true' in text
        assert '"invocation"' in text
        shown[holder] = text
    assert {holder: text for holder, text in shown.items() if "s3c" in text or "5312077" in text} == {}


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_task_that_succeeds_shows_no_secret_nor_logs_one(monkeypatch, result_of, holder: str) -> None:
    logged: list[str] = []
    monkeypatch.setattr(syslog, "syslog", lambda *words: logged.append(str(words)))
    monkeypatch.setattr(basic, "has_journal", False)
    known = {name: value for name, value in HOLDERS[holder].items() if name in AUTH_SPEC or name == "key_file"}
    if holder.startswith("headers"):
        known["proxy_headers"] = {"basic_auth": "u:s3cret"}

    def succeed() -> None:
        ClusterModule(argument_spec=dict(AUTH_SPEC)).exit_json(changed=False)

    text = result_of(succeed, known)
    assert '"changed": false' in text
    assert [place for place in (text, *logged) if "s3c" in place or "5312077" in place] == []
    assert "Invoked with" in logged[0]


def test_what_is_no_secret_is_shown(result_of) -> None:
    given = {
        "kubeconfig": "/etc/kubeconfig:~/.kube/config",
        "context": "prod",
        "host": "https://api.test:6443",
        "proxy": "http://u:s3cret@proxy.test:3128",
        "impersonate_groups": ["a", "b"],
        "validate_certs": False,
        "proxy_headers": {"user_agent": "me", "basic_auth": "u:p-123"},
    }
    text = result_of(lambda: ClusterModule(argument_spec=dict(AUTH_SPEC)).exit_json(prod="get-token true"), given)
    result = json.loads(text)
    shown = {name: value for name, value in result["invocation"]["module_args"].items() if value is not None}
    assert result["prod"] == "get-token true"
    assert shown == {
        **{name: given[name] for name in ("kubeconfig", "context", "host", "impersonate_groups", "validate_certs")},
        "proxy": "http://***@proxy.test:3128",
        "proxy_headers": {"user_agent": "me", "basic_auth": HIDDEN, "proxy_basic_auth": None},
    }


def test_secrets_that_come_from_the_surroundings_are_not_shown(monkeypatch, result_of) -> None:
    values = {
        "K8S_AUTH_PROXY": "u:s3cret-a@proxy.test:3128",
        "K8S_AUTH_KUBECONFIG": "users: [{user: {token: s3cret-b}}]",
        "K8S_AUTH_PASSWORD": "s3cret-c",
        "K8S_AUTH_PROXY_HEADERS_BASIC_AUTH": "u:s3cret-d",
        "HTTPS_PROXY": "http://u:s3cret-e@proxy.test",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    answered = {"said": list(values.values())}
    spec = dict(AUTH_SPEC)
    for end in (
        lambda: ClusterModule(argument_spec=spec).exit_json(**answered),
        lambda: ClusterModule(argument_spec={**spec, "x": {"required": True}}),
    ):
        assert "s3cret" not in result_of(end, {})


@pytest.mark.parametrize("option", ["resource_definition", "definition", "inline"])
def test_manifests_are_not_shown_and_their_secrets_are_known(result_of, option: str) -> None:
    from ansible_collections.kubeops.maintenance.plugins.modules import k8s_rollout_status

    pod = {"spec": {"containers": [{"env": [{"name": "DB", "value": "s3cret-a"}]}]}}
    manifests = [
        {"kind": "Deployment", "metadata": {"name": "s3cret-b"}, "spec": {"template": pod}},
        {"kind": "Secret", "stringData": {"a": "s3cret-b", "b": "s"}},
    ]
    arguments = {option: manifests, "wait_timeout": "s3cret-b"}
    assert "s3cret" not in result_of(k8s_rollout_status.main, arguments)


def test_a_manifest_in_place_of_its_path_is_not_repeated(result_of) -> None:
    from ansible_collections.kubeops.maintenance.plugins.modules import k8s_rollout_status

    arguments = {"src": ["kind: Secret\nstringData: {a: s3cret}\n"]}
    text = result_of(k8s_rollout_status.main, arguments)
    assert "that is the content of a file and not its path: use resource_definition" in text
    assert "s3cret" not in text
