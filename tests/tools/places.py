# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say where things lie and what environment the tools run in. Standard library only."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
BUILD = ROOT / ".build"
LOGS = BUILD / "logs"
HOME = BUILD / "home"
COLLECTION = Path("ansible_collections", "kubeops", "maintenance")
# A folder for ANSIBLE_COLLECTIONS_PATH and MYPYPATH in which this checkout is the collection.
LINKED = BUILD / "link"

# Settings of the caller that would change what a test sees.
FOREIGN = ("ANSIBLE_", "K8S_AUTH_", "GIT_", "MAKE", "MFLAGS", "PYTEST_")
FOREIGN_NAMES = ("KUBECONFIG", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")


def link() -> None:
    """Make LINKED show this checkout as the collection."""
    place = LINKED / COLLECTION
    if not place.is_symlink():
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            place.symlink_to(os.path.relpath(ROOT, place.parent))
        except FileExistsError:
            pass  # made by another make in the meantime


def environment(**more: str) -> dict[str, str]:
    """Return the environment for a tool: the programs of .venv first, nothing of the caller's that changes a result."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN) and k not in FOREIGN_NAMES}
    env["PATH"] = os.pathsep.join(search_path(env.get("PATH", os.defpath)))
    env["ANSIBLE_COLLECTIONS_PATH"] = str(LINKED)
    env["ANSIBLE_NOCOLOR"] = "1"
    env["NO_COLOR"] = "1"
    env.update(more)
    return env


def search_path(path: str) -> list[str]:
    """Return the folders of `path` after .venv/bin, with pyenv's real folders in the place of its shims.

    A shim is found under each Python version's name, also where that version is not the chosen one, and then fails:
    ansible-test would stumble over it instead of passing that version over.
    """
    folders = [str(VENV / "bin")]
    pyenv = [Path(folder).parent for folder in path.split(os.pathsep) if Path(folder).name == "shims"]
    folders += [folder for folder in path.split(os.pathsep) if Path(folder).name != "shims"]
    for root in pyenv:
        folders += [str(found) for found in sorted(root.glob("versions/3.*/bin"))]
    # A .venv made by a shim has its base Python outside PATH where pyenv is reached by another way.
    folders.append(str(Path(sys.base_prefix) / "bin"))
    return list(dict.fromkeys(folders))
