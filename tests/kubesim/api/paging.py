# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Continue tokens of paged lists."""

from __future__ import annotations

import base64
import binascii
import json

from .. import errors

_VERSION = "meta.k8s.io/v1"
_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new "
    "list without the continue "
    "parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token "
    "results in an inconsistent list - objects that were created, modified, or deleted between the time "
    "the first chunk was returned and "
    "now may show up in the list."
)


def token(resource_version: int, last: str) -> str:
    """Return the token that continues after key `last` (namespace/name, or name) of the state at a version.

    Version -1: of the state at the time of the request.
    """
    content = json.dumps({"v": _VERSION, "rv": resource_version, "start": last + "\u0000"}, separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).rstrip(b"=").decode()


def read_token(text: str) -> tuple[int, str]:
    """Return (resource version, key of the first object to show); ApiStatus 400 when it is not a token."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _bad("illegal base64 data at input byte 0") from None
    try:
        content = json.loads(raw)
    except ValueError:
        first = raw[:1].decode("latin-1")
        raise _bad(f"invalid character '{first}' looking for beginning of value") from None
    if not isinstance(content, dict) or content.get("v") != _VERSION:
        version = content.get("v", "") if isinstance(content, dict) else ""
        raise _bad(f'server does not recognize this encoded version "{version}"')
    if not content.get("start"):
        raise _bad(f"encoded start key empty (version {_VERSION})")
    return int(content.get("rv", 0)), content["start"]


def too_old(last: str) -> errors.ApiStatus:
    """410 that offers a token for the rest of the list as it is now."""
    refusal = errors.expired(_TOO_OLD)
    refusal.metadata = {"continue": token(-1, last)}
    return refusal


def _bad(problem: str) -> errors.ApiStatus:
    return errors.bad_request(f"invalid continue token: continue key is not valid: {problem}")
