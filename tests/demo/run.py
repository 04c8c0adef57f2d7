# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show the collection at work: `run.py` on an embedded cluster, `run.py --kubeconfig PATH` on one of your own."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from places import LINKED, link  # noqa: E402 - lies in another folder of scripts


def main() -> int:
    """Run the demo; 0 if all went well, 1 if not, or if the user did not agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, help="drain the workers of this cluster; it asks first")
    options = parser.parse_args()
    # Ended from outside, the simulator has to end, too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    link()
    sys.path.insert(0, str(LINKED))
    started = time.monotonic()
    if options.kubeconfig:
        import real

        return real.run(options.kubeconfig.expanduser().resolve())
    import embedded

    status = embedded.run()
    print(f"The demo took {time.monotonic() - started:.0f} s.")
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
