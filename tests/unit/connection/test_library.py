# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of the Python package kubernetes matters: that it is there, new enough, and that we do not depend on more."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import MissingLibrary
from connection.situations import ask, kubeconfig

CREDENTIALS = {"token": "t"}


def installed(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str | None) -> None:
    """Let another package kubernetes be the one that is installed, or none."""
    monkeypatch.delitem(sys.modules, "kubernetes", raising=False)
    if text is not None:
        (folder / "kubernetes").mkdir()
        (folder / "kubernetes" / "__init__.py").write_text(text)
        monkeypatch.syspath_prepend(str(folder))
        return
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "kubernetes", None)


def test_missing(monkeypatch, tmp_path, connected) -> None:
    installed(monkeypatch, tmp_path, None)
    with pytest.raises(MissingLibrary) as caught:
        connected(host="https://api.test", api_key="t")
    assert caught.value.message == (
        f"Failed to import the required Python library (kubernetes) on {os.uname().nodename}'s Python {sys.executable}"
        f" (import of kubernetes halted; None in sys.modules): install it there with '{sys.executable} -m pip install"
        ' "kubernetes>=24.2"\', or set ansible_python_interpreter to a Python that has it.'
    )


def test_broken(monkeypatch, tmp_path, connected) -> None:
    installed(monkeypatch, tmp_path, "raise ImportError('half of it is gone')")
    with pytest.raises(MissingLibrary, match=r"\(half of it is gone\): install it there"):
        connected(host="https://api.test", api_key="t")


@pytest.mark.parametrize("version", ["24.1.9", "12.0.0", "9.0.0a1", "0"])
def test_too_old(monkeypatch, tmp_path, connected, version) -> None:
    installed(monkeypatch, tmp_path, f'__project__ = "kubernetes"\n__version__ = "{version}"\n')
    with pytest.raises(MissingLibrary) as caught:
        connected(host="https://api.test", api_key="t")
    assert caught.value.message == (
        f"The Python library kubernetes on {os.uname().nodename}'s Python {sys.executable} is version {version}, and"
        f" 24.2 or later is needed: upgrade it there with '{sys.executable} -m pip install --upgrade"
        ' "kubernetes>=24.2"\'.'
    )


@pytest.mark.parametrize("version", ["24.2.0", "30.1.0", "38.0.0b1"])
def test_new_enough(monkeypatch, tmp_path, connected, version) -> None:
    installed(monkeypatch, tmp_path, f"__version__ = '{version}'\n")
    assert connected(host="https://api.test", api_key="t").base_url == "https://api.test:443"


def test_nothing_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, ansible_collections.kubeops.maintenance.plugins.module_utils.connection.connection\n"
        "print([name for name in ('kubernetes', 'yaml', 'urllib3') if name in sys.modules])"
    )
    assert python(code) == "[]\n"


def test_the_library_itself_is_not_imported_to_connect() -> None:
    code = (
        "import sys\n"
        "from ansible_collections.kubeops.maintenance.plugins.module_utils.connection.connection import connect\n"
        "connect({'host': 'https://api.test', 'api_key': 't'})\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'kubernetes'])"
    )
    assert python(code) == "[]\n"


def python(code: str) -> str:
    """Run code in a fresh interpreter, and return what it prints."""
    root = Path(__file__).resolve().parents[3]
    here = (
        "import sys, types\n"
        "for name in ('ansible_collections', 'ansible_collections.kubeops', 'ansible_collections.kubeops.maintenance'):"
        " sys.modules[name] = types.ModuleType(name); sys.modules[name].__path__ = []\n"
        f"sys.modules['ansible_collections.kubeops.maintenance'].__path__ = [{str(root)!r}]\n"
    )
    done = subprocess.run([sys.executable, "-B", "-c", here + code], capture_output=True, text=True, check=True)
    return done.stdout


def test_forty_requests_at_once_give_no_warnings(connected, api, ca_file, caplog) -> None:
    connection = connected(host=api.url, api_key="t", ca_cert=ca_file)
    together = threading.Barrier(40)
    answers = []

    def one() -> None:
        together.wait()
        answers.append(ask(connection))

    threads = [threading.Thread(target=one) for number in range(40)]
    with caplog.at_level(logging.WARNING):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [200] * 40
    assert caplog.records == []


def test_connections_are_kept(connected, api, ca_file) -> None:
    connection = connected(host=api.url, api_key="t", ca_cert=ca_file)
    for path in ("/version", "/api", "/apis"):
        ask(connection, path)
    pool = connection.pool.connection_from_url(connection.base_url)
    assert (pool.num_connections, pool.num_requests) == (1, 3)


class TestNothingOfTheEnvironment:
    """Some releases fill in proxies by themselves, by rules of their own."""

    def test_proxy_of_another_scheme(self, monkeypatch, connected, api, ca_file) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        monkeypatch.setenv("NO_PROXY", "")
        assert ask(connected(host=api.url, api_key="t", ca_cert=ca_file)) == 200

    def test_no_proxy_for_a_given_proxy(self, monkeypatch, connected, api, proxy, ca_file) -> None:
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        ask(connected(kubeconfig=kubeconfig(api.url, CREDENTIALS, certificate_authority=ca_file, proxy_url=proxy.url)))
        assert len(proxy.tunnels) == 1
