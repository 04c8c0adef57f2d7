# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the copy of the collection that ansible-test wants, and the home folder it runs with.

ansible-test works only in a folder named ansible_collections/<namespace>/<name>, by its real path, so that a link
does not do. The copy gets a git repository of its own: inside a folder that an outer repository ignores, ansible-test
would find no files at all, skip every test and still succeed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from places import BUILD, COLLECTION, HOME, ROOT, environment

# ansible-test makes a virtual environment without pip for each of its tools, and fetches a script from its own file
# server to add it. This one shows them a pip that was installed once, so that only the package index is needed, and
# none of them waits for it; what else is asked for is installed with it.
GET_PIP = """\
import subprocess
import sys
import sysconfig

with open(sysconfig.get_path("purelib") + "/pip.pth", "w") as shown:
    shown.write({folder!r} + "\\n")
packages = [a for a in sys.argv[1:] if not a.startswith("-") and a != {pip!r}]
if packages:
    options = [a for a in sys.argv[1:] if a.startswith("-") and a not in ("--no-setuptools", "--no-wheel")]
    sys.exit(subprocess.call([sys.executable, "-m", "pip", "install", "-q"] + options + packages))
"""


def project_files() -> list[str]:
    """Return the paths of all files that git does not ignore, committed or not, sorted, relative to ROOT.

    A throw-away index is asked in place of the checkout's own: it works in an unpacked archive too, and a file that
    is deleted but not yet committed is not listed.
    """
    git_dir = BUILD / "file-list.git"
    env = environment(GIT_DIR=str(git_dir), GIT_WORK_TREE=str(ROOT))
    with one_at_a_time("file-list"):
        if not (git_dir / "HEAD").exists():
            subprocess.run(["git", "init", "--quiet", "--bare", str(git_dir)], check=True, env=environment())
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "-z"], cwd=ROOT, env=env, check=True, capture_output=True
    )
    return sorted(os.fsdecode(name) for name in listed.stdout.split(b"\0") if name)


@contextlib.contextmanager
def one_at_a_time(what: str) -> Iterator[None]:
    """Wait until no other process or thread is in a block of this name."""
    with open(BUILD / f"{what}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def staged(purpose: str) -> Iterator[Path]:
    """Give a fresh copy of the collection in .build/stage/<purpose>, for one user at a time."""
    top = BUILD / "stage" / purpose
    top.mkdir(parents=True, exist_ok=True)
    with open(top / "lock", "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"Waiting for another run of {purpose} to end", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        copy = top / COLLECTION
        shutil.rmtree(copy, ignore_errors=True)
        for name in project_files():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):  # removed since it was listed
                shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
        subprocess.run(["git", "init", "--quiet"], cwd=copy, check=True, env=environment())
        yield copy


def ansible_test_environment() -> dict[str, str]:
    """Return the environment for ansible-test, with a home folder of its own in .build/home."""
    cache = HOME / ".ansible" / "test" / "cache"
    version = pip_version()
    pip = f"pip=={version}"
    with one_at_a_time("home"):
        home_for_pip()
        cache.mkdir(parents=True, exist_ok=True)
        folder = installed_once(pip, cache / f"pip-{version}")
        replace(cache / f"get_pip_{version.replace('.', '_')}.py", GET_PIP.format(folder=str(folder), pip=pip))
    return environment(HOME=str(HOME))


def installed_once(package: str, folder: Path) -> Path:
    """Return the folder, after the package was installed into it if it is not there yet."""
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"]
            subprocess.run([*pip, "--no-deps", "--target", f"{made}/whole", package], check=True)
            os.rename(f"{made}/whole", folder)
    return folder


def pip_version() -> str:
    """Return the version of the pip script that the installed ansible-test looks for."""
    script = "import ansible_test._internal as here; print(here.__path__[0])"
    where = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.strip()
    source = (Path(where) / "python_requirements.py").read_text(encoding="utf-8")
    found = re.search(r"""\bpip=['"](\d+(?:\.\d+)+)['"]""", source)
    if not found:
        raise SystemExit("This ansible-test does not say which pip it wants: see tests/tools/staging.py")
    return found[1]


def home_for_pip() -> None:
    """Carry the caller's pip settings (index, proxy, certificates) into the home folder.

    ansible-test starts programs with nearly no environment variables, so that PIP_INDEX_URL and its like get lost.
    """
    old_place, new_place = HOME / ".pip" / "pip.conf", HOME / ".config" / "pip" / "pip.conf"
    for place in (old_place, new_place):
        place.parent.mkdir(parents=True, exist_ok=True)
    owns = [Path.home() / ".config" / "pip" / "pip.conf", Path.home() / ".pip" / "pip.conf"]
    own = next((place for place in owns if place.exists()), None)
    if not own or not old_place.is_symlink() or old_place.readlink() != own:
        old_place.unlink(missing_ok=True)
        if own:
            old_place.symlink_to(own)
    settings = {k[4:].lower().replace("_", "-"): v for k, v in os.environ.items() if k.startswith("PIP_") and v}
    settings.pop("config-file", None)
    lines = ["[global]"] + [f"{name} = {' '.join(value.split())}" for name, value in sorted(settings.items())]
    replace(new_place, "\n".join(lines) + "\n")


def replace(place: Path, text: str) -> None:
    """Give a file this text, for its owner's eyes alone; who reads it meanwhile gets the old text or the new."""
    with tempfile.NamedTemporaryFile("w", dir=place.parent, delete=False, encoding="utf-8") as made:
        made.write(text)
    os.replace(made.name, place)
