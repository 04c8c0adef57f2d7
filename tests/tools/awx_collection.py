# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fetch the collection awx.awx, once, into .build/awx.

The package index has it inside the package `ansible`: that wheel is downloaded, and one collection taken out of it.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from places import BUILD

PACKAGE = "ansible==12.3.0"
FOLDER = BUILD / "awx"
_LIMIT = 240  # seconds for a download of 54 MB
_MEMBERS = "ansible_collections/awx/awx/"


class Unavailable(Exception):
    """The collection cannot be had; the text says why."""


def fetch() -> Path:
    """Return a folder for ANSIBLE_COLLECTIONS_PATH that has awx.awx; Unavailable if it can't be downloaded."""
    done = FOLDER / f"complete-{PACKAGE}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(FOLDER / "ansible_collections", ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
                _unpack(_download(Path(folder)))
            done.touch()
    return FOLDER


def _download(folder: Path) -> Path:
    # Only files of the collection are used, so it does not matter for which Python the package as a whole is.
    command = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--no-input",
        "download",
        "--quiet",
        "--no-deps",
        "--no-cache-dir",
        "--ignore-requires-python",
        "--only-binary",
        ":all:",
        "--dest",
        str(folder),
        PACKAGE,
    ]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{PACKAGE} was not downloaded within {_LIMIT} s") from None
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise Unavailable(f"pip could not download {PACKAGE}: {lines[-1] if lines else 'it said nothing'}")
    return wheels[0]


def _unpack(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(FOLDER, [name for name in archive.namelist() if name.startswith(_MEMBERS)])


if __name__ == "__main__":
    try:
        print(fetch())
    except Unavailable as problem:
        sys.exit(str(problem))
