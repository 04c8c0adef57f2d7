# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one family of errors that this collection raises.

::

    MaintenanceError            a sentence for the user, and facts for the code that catches it
    |-- InvalidOptions          an option has a value that makes no sense
    |-- MissingLibrary          a Python package is absent or too old
    |-- InvalidConfiguration    kubeconfig, certificates or credentials cannot be used
    |-- Unreachable             no API server responds there
    |-- ApiError                the API server responded with an error
    |   |-- Unauthorized        401
    |   |-- Forbidden           403
    |   |-- NotFound            404
    |   |-- Conflict            409
    |   |-- Expired             410
    |   |-- TooManyRequests     429
    |   `-- ServerFault         408, 5xx
    |       `-- UnexpectedResponse   not from a Kubernetes API server: HTML, other JSON, a redirect
    `-- Failed                  the use case cannot go on

    Cancelled                   a signal ended the task; apart from the others, as KeyboardInterrupt is, so that no
                                handler of one node's failure catches it

Code decides by classes, statuses and details; sentences may change.
"""

from __future__ import annotations

from typing import Any


class MaintenanceError(Exception):
    """Carry one sentence that names the cause and the remedy, and details that distinguish errors of a class.

    details: C(kind), C(name) for a host name that cannot be resolved; C(about), the Status object's C(details), a dict.
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def __str__(self) -> str:
        # The message may have been made more precise where the error was caught.
        return self.message

    def first_line(self) -> str:
        """Return the message's first line, for a place that has one line."""
        return self.message.splitlines()[0] if self.message else "no response"


class InvalidOptions(MaintenanceError):
    """Say which option is wrong and what it may be."""


class MissingLibrary(MaintenanceError):
    """Say which Python package is missing or too old, and for which interpreter."""


class InvalidConfiguration(MaintenanceError):
    """Say what is wrong with the kubeconfig, the certificates or the credentials."""


class Unreachable(MaintenanceError):
    """Say that no API server responds, where, and why.

    final: no retry can help: an unknown host name, a certificate that is not trusted.
    """

    def __init__(self, message: str, final: bool = False, **details: Any) -> None:
        super().__init__(message, **details)
        self.final = final


class ApiError(MaintenanceError):
    """Carry an error that the API server responded with.

    status: the HTTP status; reason: the Status object's C(reason), "" if there is no such object;
    causes: its C(details.causes), a list of dicts; retry_after: seconds the server asks to wait, or None.
    """

    def __init__(
        self,
        message: str,
        status: int,
        reason: str = "",
        causes: list[dict[str, Any]] | None = None,
        retry_after: float | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message, **details)
        self.status = status
        self.reason = reason
        self.causes = causes or []
        self.retry_after = retry_after


class Unauthorized(ApiError):
    """401: the credentials are not accepted."""


class Forbidden(ApiError):
    """403: the credentials are known, the right is missing, or admission refused."""


class NotFound(ApiError):
    """404."""


class Conflict(ApiError):
    """409: the object has been changed since it was read, or a precondition does not hold."""


class Expired(ApiError):
    """410: a resourceVersion or continue token is too old."""


class TooManyRequests(ApiError):
    """429: a disruption budget refuses, or the server asks to slow down."""


class ServerFault(ApiError):
    """408 or 5xx: worth another try."""


class UnexpectedResponse(ServerFault):
    """A response, with any status, that is not from a Kubernetes API server."""


class Failed(MaintenanceError):
    """The use case cannot go on, although the API server works."""


class Cancelled(BaseException):
    """A signal ended the task. C(message) says which."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
