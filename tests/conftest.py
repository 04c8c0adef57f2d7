# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the checkout importable as the collection, for every test suite here."""

from __future__ import annotations

import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def _register(name: str, path: Path | None = None) -> None:
    if name not in sys.modules:  # ansible-test brings a loader of its own
        package = types.ModuleType(name)
        package.__path__ = [str(path)] if path else []
        sys.modules[name] = package


_register("ansible_collections")
_register("ansible_collections.kubeops")
_register("ansible_collections.kubeops.maintenance", ROOT)

# pytest.ini_options do the same for a run from the root; ansible-test does not read them.
for _folder in (ROOT / "tests" / "tools", ROOT / "tests" / "unit", ROOT / "tests"):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))
