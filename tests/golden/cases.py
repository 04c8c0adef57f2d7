# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read recorded cases."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Obj = dict[str, Any]


class BrokenFolder(Exception):
    """Say in one sentence why a folder cannot be used."""


@dataclass(frozen=True)
class Case:
    """One run of kubectl; README.md names the keys of the file that the fields are made from.

    rights: None for an account that may do everything; seconds: how long kubectl ran.
    """

    id: str
    namespace: str
    module: str
    args: Obj
    check_mode: bool
    rights: list[Obj] | None
    during: list[Obj]
    before: list[Obj]
    after: Obj
    exit_code: int
    stderr: str
    seconds: float
    exchanges: list[Obj] = field(default_factory=list)
    stdout: str = ""

    @property
    def pods(self) -> dict[str, str]:
        """Return the names of the pods of `before` that `after` tells about, by uid."""
        return {
            pod["metadata"]["uid"]: pod["metadata"]["name"]
            for pod in self.before
            if pod["kind"] == "Pod" and pod["metadata"].get("namespace") == self.namespace
        }


def case_from(recorded: Mapping[str, Any]) -> Case:
    """Return the case that a file holds; KeyError or TypeError where it is none."""
    asked = recorded["module"]
    return Case(
        id=str(recorded["id"]),
        namespace=str(recorded["namespace"]),
        module=str(asked["module"]),
        args=dict(asked["args"]),
        check_mode=bool(asked.get("check_mode")),
        rights=recorded.get("rights"),
        during=list(recorded.get("during") or ()),
        before=list(recorded["before"]),
        after=dict(recorded["after"]),
        exit_code=int(recorded["exit_code"]),
        stderr=str(recorded.get("stderr") or ""),
        seconds=float(recorded["duration_s"]),
        exchanges=list(recorded.get("exchanges") or ()),
        stdout=str(recorded.get("stdout") or ""),
    )


def read_folder(folder: Path) -> list[Case]:
    """Return the cases of all JSON files of a folder, by file name. BrokenFolder if one is none, or there are none."""
    if not folder.is_dir():
        raise BrokenFolder(f"There is no folder {folder}.")
    files = sorted(folder.glob("*.json"))
    if not files:
        raise BrokenFolder(f"The folder {folder} holds no case: no file there ends with .json.")
    return [_read(file) for file in files]


def _read(file: Path) -> Case:
    try:
        return case_from(json.loads(file.read_text(encoding="utf-8")))
    except OSError as exc:
        raise BrokenFolder(f"{file} cannot be read: {exc.strerror}.") from exc
    except KeyError as exc:
        raise BrokenFolder(f"{file} is not a golden case: it has no {exc}.") from exc
    except (ValueError, TypeError, AttributeError) as exc:
        raise BrokenFolder(f"{file} is not a golden case: {exc}.") from exc
