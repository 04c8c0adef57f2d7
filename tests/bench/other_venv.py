# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make .build/bench-venv: kubernetes.core as the PyPI package `ansible` ships it, and what it needs to run.

The versions of ansible-core and of the client library are those of .venv, so that the modules are compared and not
what is below them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from places import BUILD, ROOT

PLACE = BUILD / "bench-venv"
ANSIBLE = "12.3.0"
_CORE = "ansible_collections/kubernetes/core/"
_REQUIREMENTS = ROOT / "tests" / "requirements" / "demo.txt"
_WANTED = ("ansible-core", "kubernetes")


class Unavailable(Exception):
    """Say why there is no such environment."""


def ensure() -> Path:
    """Return the environment's folder, made once; Unavailable when it cannot be made (no network, for example)."""
    stamp, wanted = PLACE / "installed", _stamp()
    if not stamp.exists() or stamp.read_text() != wanted:
        print("Installing kubernetes.core into .build/bench-venv (once, about half a minute)", flush=True)
        shutil.rmtree(PLACE, ignore_errors=True)
        _run(sys.executable, "-m", "venv", str(PLACE))
        _pip("install", "--quiet", *_pins())
        _unpack()
        stamp.write_text(wanted)
    return PLACE


def _unpack() -> None:
    downloads = PLACE / "downloads"
    # Only data is taken from the package, so it does not matter for which Pythons it is meant.
    _pip("download", "--quiet", "--no-deps", "--ignore-requires-python", "-d", str(downloads), f"ansible=={ANSIBLE}")
    wheel = next(downloads.glob("ansible-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(PLACE / "collections", [name for name in archive.namelist() if name.startswith(_CORE)])
    shutil.rmtree(downloads)


def _pins() -> list[str]:
    lines = _REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith(tuple(f"{name}==" for name in _WANTED))]


def _stamp() -> str:
    return "\n".join([sys.version, str(PLACE), ANSIBLE, *_pins()])


def _pip(*arguments: str) -> None:
    _run(str(PLACE / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments)


def _run(*command: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"{' '.join(command[1:5])}... failed: {(done.stderr or done.stdout).strip()[-300:]}")
