# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn an HTTP answer into an object, or into an error of errors.py."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..errors import (
    ApiError,
    Conflict,
    Expired,
    Forbidden,
    InvalidOptions,
    MaintenanceError,
    NotFound,
    ServerFault,
    TooManyRequests,
    Unauthorized,
)
from ..objects import Obj, int_field, mapping_at, mappings_at

# Enough for a webhook's explanation, too short for a web page.
MAX_TEXT = 1000

# An escaped surrogate. Two of them make one character; one alone cannot be encoded.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

_CLASSES: dict[int, type[ApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    408: ServerFault,
    409: Conflict,
    410: Expired,
    429: TooManyRequests,
}


def value_of(status: int, headers: Mapping[str, str], data: bytes) -> Obj:
    """Return the object in a good answer; raise the ApiError that any other answer is.

    Only a body that is a Kubernetes Status is believed. A 404 page of a load balancer does not mean that a pod is
    gone, so whatever else comes counts as a fault between here and the API server.
    """
    body = _parsed(data)
    if 200 <= status < 300 and body is not None:
        return body
    if body is None or body.get("kind") != "Status":
        raise foreign_answer(status, headers, data)
    raise error_of(body, status, headers)


def error_of(body: Obj, status: int = 0, headers: Mapping[str, str] | None = None) -> ApiError:
    """Return the error that a Status object describes. Its own code counts where none is given (watch streams)."""
    status = status or int_field(body.get("code"), 500)
    kind = _CLASSES.get(status, ServerFault if status >= 500 else ApiError)
    retry_after = _seconds((headers or {}).get("Retry-After"))
    if retry_after is None:
        retry_after = _seconds(mapping_at(body, "details").get("retryAfterSeconds"))
    return kind(
        clip(str(body.get("message") or "") or "the API server answered %d without a message" % status),
        status=status,
        reason=str(body.get("reason") or ""),
        causes=mappings_at(body, "details", "causes"),
        retry_after=retry_after,
        about=mapping_at(body, "details"),
    )


def event_of(line: bytes) -> Obj:
    """Return the event that a line of a watch is; raise the error that it tells of."""
    event = _parsed(line)
    if event is None:
        text = "the watch sent something that is not an event, or was cut off in the middle of one"
        raise ServerFault(text, status=200, foreign=True)
    if event.get("type") == "ERROR":
        raise error_of(mapping_at(event, "object"))
    return event


def listed(page: Obj) -> Obj:
    """Return a page of a list; raise a fault for other JSON, which without items would look as if all were gone."""
    if not isinstance(page.get("items"), list) and not str(page.get("kind") or "").endswith("List"):
        text = "the answer to a list request is not a list, so it is not from a Kubernetes API server"
        raise ServerFault(text, status=200, foreign=True)
    return page


def is_absent(error: NotFound) -> bool:
    """Tell whether a 404 says that an object is not there; without a name it says that there is no such API."""
    return bool(mapping_at(error.details, "about").get("name"))


def selector_fault(exc: ApiError, option: str, selectors: list[str]) -> MaintenanceError:
    """Return the error to raise for a list that failed: the user's mistake where the label selectors are malformed."""
    if exc.status != 400 or not selectors:
        return exc
    text = "the option %s: %r is not a valid label selector: %s"
    return InvalidOptions(text % (option, ",".join(selectors), exc.message))


def foreign_answer(status: int, headers: Mapping[str, str], data: bytes) -> ServerFault:
    """Return the error for an answer that no Kubernetes API server wrote."""
    kind = (headers.get("Content-Type") or "").split(";")[0].strip() or "no content type"
    where = ""
    if 300 <= status < 400 and headers.get("Location"):
        # A login in front of the host is a secret.
        where = " to %s" % re.sub(r"//[^/]*@", "//", headers["Location"].split("?")[0])
    return ServerFault(
        "the answer is not from a Kubernetes API server (HTTP %d%s, %s, %d bytes)" % (status, where, kind, len(data)),
        status=status,
        retry_after=_seconds(headers.get("Retry-After")),
        foreign=True,
    )


def clip(text: str) -> str:
    """Return the text in one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_TEXT else line[: MAX_TEXT - 3] + "..."


def _parsed(data: bytes) -> Obj | None:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if _SURROGATE.search(data):
        body = _without_lone_surrogates(body)
    return body if isinstance(body, dict) else None


def _without_lone_surrogates(value: Any) -> Any:
    """Return a value with lone surrogates in its texts replaced, because nothing can send, print or store them."""
    if isinstance(value, dict):
        return {_without_lone_surrogates(key): _without_lone_surrogates(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_without_lone_surrogates(entry) for entry in value]
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _seconds(value: Any) -> float | None:
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        # An HTTP date is allowed there too, but no API server sends one.
        return None
    return seconds if 0 < seconds < 86400 else None
