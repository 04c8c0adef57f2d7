# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the collection into .build, install it into an empty folder, and look at what a user would get."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from places import BUILD, COLLECTION, ROOT, VENV, environment
from staging import project_files

OUT = BUILD / "artifact"
INSTALLED = BUILD / "installed"
# What may lie at the top of the artifact.
FOLDERS = {"changelogs", "docs", "extensions", "meta", "playbooks", "plugins", "roles"}
FILES = {
    "CHANGELOG.rst",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "FILES.json",
    "LICENSE",
    "MANIFEST.json",
    "README.md",
    "bindep.txt",
    "requirements.txt",
}
# An execution environment is built from these.
EXECUTION_ENVIRONMENT = {"meta/execution-environment.yml", "requirements.txt", "bindep.txt"}
NEEDED = {"LICENSE", "README.md", "meta/runtime.yml"} | EXECUTION_ENVIRONMENT


def tool(name: str, *arguments: str) -> str:
    """Run a program of .venv on the installed collection and return what it prints."""
    env = environment(ANSIBLE_COLLECTIONS_PATH=str(INSTALLED), ANSIBLE_HOME=str(BUILD / "ansible-home"))
    done = subprocess.run(
        [str(VENV / "bin" / name), *arguments],
        cwd=BUILD,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{name} {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def wrong_files(artifact: Path) -> list[str]:
    """Return a sentence for each file that the artifact should not have, or lacks."""
    with tarfile.open(artifact) as tar:
        packed = {member.name for member in tar.getmembers() if not member.isdir()}
    known = set(project_files()) | {"MANIFEST.json", "FILES.json"}
    wrong = [f"{name} is packed but not part of the project" for name in sorted(packed - known)]
    for name in sorted(packed & known):
        top = name.split("/")[0]
        if top not in (FOLDERS if "/" in name else FILES):
            wrong.append(f"{name} is packed but of no use to users: add it to build_ignore in galaxy.yml")
    shipped = {name for name in known if name.split("/")[0] in {"plugins", "roles", "playbooks", "meta"}}
    return wrong + [f"{name} is missing" for name in sorted((shipped | NEEDED) - packed)]


def check_content() -> None:
    """Let Ansible find every module, role and playbook of the checkout in the installed collection."""
    modules = sorted(file.stem for file in (ROOT / "plugins" / "modules").glob("*.py"))
    if not modules:
        raise SystemExit("There are no modules in plugins/modules")
    found = json.loads(tool("ansible-doc", "-t", "module", "-l", "-j", "kubeops.maintenance"))
    missing = [name for name in modules if f"kubeops.maintenance.{name}" not in found]
    if missing:
        raise SystemExit(f"ansible-doc does not find {', '.join(missing)}")
    for name in modules:
        tool("ansible-doc", "-t", "module", f"kubeops.maintenance.{name}")
    roles = sorted(file.parent.parent.name for file in (ROOT / "roles").glob("*/meta/argument_specs.y*ml"))
    for name in roles:
        tool("ansible-doc", "-t", "role", f"kubeops.maintenance.{name}")
    playbooks = sorted(file.stem for file in (ROOT / "playbooks").glob("*.yml"))
    for name in playbooks:
        tool("ansible-playbook", "--syntax-check", "-i", "localhost,", f"kubeops.maintenance.{name}")
    print(f"Installed and found: modules {modules}, roles {roles}, playbooks {playbooks}")


def main() -> int:
    for folder in (OUT, INSTALLED):
        shutil.rmtree(folder, ignore_errors=True)
    tool("ansible-galaxy", "collection", "build", "--force", "--output-path", str(OUT), str(ROOT))
    (artifact,) = OUT.glob("kubeops-maintenance-*.tar.gz")
    wrong = wrong_files(artifact)
    if wrong:
        print("\n".join(wrong))
        return 1
    tool("ansible-galaxy", "collection", "install", "--offline", "-p", str(INSTALLED), str(artifact))
    if not (INSTALLED / COLLECTION / "MANIFEST.json").exists():
        raise SystemExit("ansible-galaxy installed nothing")
    check_content()
    print(f"Built {artifact.relative_to(ROOT)} ({artifact.stat().st_size // 1024} KiB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
