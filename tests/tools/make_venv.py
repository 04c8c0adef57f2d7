# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make .venv hold a requirement set: `python3 make_venv.py demo|dev`.

Runs on a bare Python (standard library only). A stamp file in .venv names the Python version and the hash of the
requirement files that were installed, so a second call does nothing and needs no network. The dev set contains the
demo set: after `dev`, a call for `demo` does nothing either.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys

from places import BUILD, ROOT, VENV, link

REQUIREMENTS = ROOT / "tests" / "requirements"
OLDEST = (3, 10)


def wanted_stamp(name: str) -> str:
    """Return what the stamp of a complete installation of `name` says."""
    digest = hashlib.sha256()
    files = ["demo.txt"] if name == "demo" else ["demo.txt", "dev.txt"]
    for file in files:
        digest.update((REQUIREMENTS / file).read_bytes())
    return "python {}.{} at {}\nrequirements {}\n".format(*sys.version_info[:2], VENV, digest.hexdigest())


def is_complete(name: str) -> bool:
    """Tell whether .venv has the set `name`, installed for this Python, in this folder."""
    stamp = VENV / f"installed-{name}"
    return (VENV / "bin" / "python").exists() and stamp.exists() and stamp.read_text() == wanted_stamp(name)


def fits_this_python() -> bool:
    """Tell whether .venv was made by this Python version and in this folder, so that more can be installed into it."""
    begins = wanted_stamp("demo").splitlines()[0]
    return any(stamp.read_text().startswith(begins) for stamp in VENV.glob("installed-*"))


def install(name: str) -> None:
    """Create .venv where it is missing or unusable, and install the set `name` into it."""
    python = VENV / "bin" / "python"
    if not python.exists() or not fits_this_python():
        shutil.rmtree(VENV, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    for stale in VENV.glob("installed-*"):
        stale.unlink()
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"]
    with open(BUILD / "pip.log", "w", encoding="utf-8") as log:
        subprocess.run([*pip, "-r", str(REQUIREMENTS / f"{name}.txt")], check=True, stdout=log, stderr=log)
    for complete in ("demo", "dev") if name == "dev" else ("demo",):
        (VENV / f"installed-{complete}").write_text(wanted_stamp(complete))


def main() -> int:
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    if name not in ("demo", "dev"):
        print("usage: make_venv.py demo|dev", file=sys.stderr)
        return 2
    if sys.version_info < OLDEST:
        print(
            "Python {}.{} is too old: 3.10 or later is needed. Try make PYTHON=python3.11 ...".format(
                *sys.version_info[:2]
            ),
            file=sys.stderr,
        )
        return 1
    link()
    if is_complete(name):
        return 0
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / "venv.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two makes at once: the second finds the work done
        if is_complete(name):
            return 0
        print(f"Installing the {name} requirements into .venv (once, about a minute)", flush=True)
        os.environ.pop("PYTHONHOME", None)
        try:
            install(name)
        except subprocess.CalledProcessError as failed:
            print(f"Could not make .venv: {' '.join(failed.cmd)} ended with {failed.returncode}", file=sys.stderr)
            print("What pip said is in .build/pip.log", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
