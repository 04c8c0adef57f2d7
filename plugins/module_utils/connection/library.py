# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the Python package kubernetes: the only file that imports it.

It brings urllib3 and PyYAML, and logs users with an auth-provider in; for those alone it is imported.
"""

from __future__ import annotations

import importlib.util
import platform
import re
import sys
from typing import Any

from ..errors import MissingLibrary

OLDEST_CLIENT = (24, 2)
# Quoted, as a shell would take what follows the name for a file to write to.
NEEDED = f'"kubernetes>={OLDEST_CLIENT[0]}.{OLDEST_CLIENT[1]}"'


def check_library() -> None:
    """Raise MissingLibrary if this interpreter has no package kubernetes, or one that is too old."""
    version = _version_in_file() or str(getattr(import_library(), "__version__", "0"))
    numbers = tuple(int(number) if number.isdigit() else 0 for number in version.split(".")[:2])
    if numbers < OLDEST_CLIENT:
        oldest = ".".join(str(number) for number in OLDEST_CLIENT)
        raise MissingLibrary(
            f"The Python library kubernetes on {this_python()} is version {version}, and {oldest} or later is needed:"
            f" upgrade it there with '{sys.executable} -m pip install --upgrade {NEEDED}'."
        )


def import_library() -> Any:
    """Return the package kubernetes."""
    try:
        import kubernetes
    except ImportError as exc:
        raise MissingLibrary(
            f"Failed to import the required Python library (kubernetes) on {this_python()} ({exc}): install it there"
            f" with '{sys.executable} -m pip install {NEEDED}', or set ansible_python_interpreter to a Python that has"
            " it."
        ) from exc
    return kubernetes


def import_urllib3() -> Any:
    """Return the package urllib3."""
    try:
        import urllib3
    except ImportError as exc:
        raise MissingLibrary(
            f"The Python library urllib3, which comes with kubernetes, is missing on {this_python()}: reinstall"
            f" kubernetes there with '{sys.executable} -m pip install --force-reinstall kubernetes'."
        ) from exc
    return urllib3


def this_python() -> str:
    """Return the host and the interpreter that this runs in, for errors."""
    return f"{platform.node()}'s Python {sys.executable}"


def _version_in_file() -> str:
    """Return the version that the package's first file states, "" if there is no such file or it states none."""
    spec = importlib.util.find_spec("kubernetes")
    if spec is None or not spec.origin:
        return ""
    try:
        with open(spec.origin, encoding="utf-8") as file:
            found = re.search(r"^__version__ = ['\"]([^'\"]+)", file.read(), re.MULTILINE)
    except OSError:
        return ""
    return found.group(1) if found else ""
