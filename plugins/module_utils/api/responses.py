# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn an HTTP response into an object, or into an error of errors.py."""

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
    UnexpectedResponse,
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
    """Return the object in a good response; raise an ApiError for any other one.

    Only a Kubernetes Status counts as an error of the API server. A 404 page of a load balancer does not mean that a
    pod is gone.
    """
    body = _parsed(data)
    if 200 <= status < 300 and body is not None:
        return body
    if body is None or body.get("kind") != "Status":
        raise unexpected_response(status, headers, data)
    raise error_of(body, status, headers)


def error_of(body: Obj, status: int = 0, headers: Mapping[str, str] | None = None) -> ApiError:
    """Return the error that a Status object describes, with its own code if no status is given (watch streams)."""
    status = status or int_field(body.get("code"), 500)
    kind = _CLASSES.get(status, ServerFault if status >= 500 else ApiError)
    retry_after = _seconds((headers or {}).get("Retry-After"))
    if retry_after is None:
        retry_after = _seconds(mapping_at(body, "details").get("retryAfterSeconds"))
    return kind(
        clip(str(body.get("message") or "") or f"the API server responded with {status} and no message"),
        status=status,
        reason=str(body.get("reason") or ""),
        causes=mappings_at(body, "details", "causes"),
        retry_after=retry_after,
        about=mapping_at(body, "details"),
    )


def event_of(line: bytes) -> Obj:
    """Return the event in a line of a watch; raise the error in it."""
    event = _parsed(line)
    if event is None:
        text = "the watch sent something that is not an event, or was cut off in the middle of one"
        raise UnexpectedResponse(text, status=200)
    if event.get("type") == "ERROR":
        raise error_of(mapping_at(event, "object"))
    return event


def listed(page: Obj) -> Obj:
    """Return a page of a list; raise UnexpectedResponse for other JSON, which would look like an empty list."""
    if not isinstance(page.get("items"), list) and not str(page.get("kind") or "").endswith("List"):
        text = "the response to a list request is not a list, so it is not from a Kubernetes API server"
        raise UnexpectedResponse(text, status=200)
    return page


def is_absent(error: NotFound) -> bool:
    """Return whether a 404 means that an object does not exist; without a name it means that the API does not."""
    return bool(mapping_at(error.details, "about").get("name"))


def selector_fault(exc: ApiError, option: str, selectors: list[str]) -> MaintenanceError:
    """Return the error to raise for a list that failed: InvalidOptions if the label selectors are invalid."""
    if exc.status != 400 or not selectors:
        return exc
    selector = ",".join(selectors)
    return InvalidOptions(f"the option {option}: {selector!r} is not a valid label selector: {exc.message}")


def unexpected_response(status: int, headers: Mapping[str, str], data: bytes) -> UnexpectedResponse:
    """Return the error for a response that is not from a Kubernetes API server."""
    kind = (headers.get("Content-Type") or "").split(";")[0].strip() or "no content type"
    where = ""
    if 300 <= status < 400 and headers.get("Location"):
        # A login in front of the host is a secret.
        where = " to " + re.sub(r"//[^/]*@", "//", headers["Location"].split("?")[0])
    return UnexpectedResponse(
        f"the response is not from a Kubernetes API server (HTTP {status}{where}, {kind}, {len(data)} bytes)",
        status=status,
        retry_after=_seconds(headers.get("Retry-After")),
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
