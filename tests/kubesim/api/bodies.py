# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of requests as JSON values, and the options that writes take."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .. import errors
from ..objects import Object
from . import protobuf
from .messages import Request

_FORMATS = (
    "accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf, "
    "application/cbor"
)


@dataclass(frozen=True)
class DeleteOptions:
    """How a deletion is to be done; times in seconds."""

    grace: int | None = None
    propagation: str = ""
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False


def decoded(request: Request) -> Any:
    """Return the body as a JSON value (YAML is read, too); ApiStatus 400 when it is none, 415 for other formats."""
    media = request.headers.get("content-type", "application/json").partition(";")[0].strip()
    if "protobuf" in media:
        return protobuf.decoded(request.body)
    if "cbor" in media:
        message = f"the body of the request was in an unknown format - {_FORMATS}"
        raise errors.ApiStatus(415, "UnsupportedMediaType", message, {})
    try:
        if "yaml" in media:
            import yaml  # comes with ansible-core

            return yaml.safe_load(request.body)
        return json.loads(request.body)
    except Exception as problem:  # yaml raises a zoo of its own
        raise errors.bad_request(f"error decoding the body of the request: {problem}") from None


def object_of(request: Request, kind: str, api_version: str) -> Object:
    """Return the object in the body, of the kind that the path stands for; ApiStatus 400 for anything else."""
    body = decoded(request)
    if not isinstance(body, dict):
        raise errors.bad_request(
            f"couldn't get version/kind; json parse error: json: cannot unmarshal into Go value of type {kind}"
        )
    given = body.get("kind") or kind
    if given != kind:
        message = f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind of {given}"
        raise errors.bad_request(message)
    version = body.get("apiVersion") or api_version
    if version != api_version and version.partition("/")[0] != api_version.partition("/")[0]:
        message = f"the API version in the data ({version}) does not match the expected API version ({api_version})"
        raise errors.bad_request(message)
    meta = body.get("metadata") or {}
    if not isinstance(meta, dict):
        raise errors.bad_request(
            f'{kind} in version "{version}" cannot be handled as a {kind}: json: cannot unmarshal metadata'
        )
    return {**body, "kind": kind, "apiVersion": version, "metadata": {k: v for k, v in meta.items() if v is not None}}


def is_dry_run(request: Request, in_body: Any = None, options: str = "CreateOptions") -> bool:
    """Return whether nothing may be stored; ApiStatus 422 for values other than All."""
    values = [request.query["dryRun"]] if request.query.get("dryRun") else []
    values += list(in_body or ())
    for value in values:
        if value != "All":
            text = f'Unsupported value: "{value}": supported values: "All"'
            raise errors.invalid(options, "", [("dryRun", "FieldValueNotSupported", text)], "meta.k8s.io")
    return bool(values)


def delete_options(request: Request) -> DeleteOptions:
    """Return the options of a DELETE, from its body and its query."""
    body = decoded(request) if request.body.strip() else {}
    if not isinstance(body, dict):
        raise errors.bad_request("the body of a delete request must be DeleteOptions")
    grace = body.get("gracePeriodSeconds", request.query.get("gracePeriodSeconds"))
    orphan = body.get("orphanDependents", request.query.get("orphanDependents"))
    propagation = body.get("propagationPolicy") or request.query.get("propagationPolicy") or ""
    if orphan in (True, "true"):
        propagation = "Orphan"
    if propagation not in ("", "Orphan", "Background", "Foreground"):
        text = f'Unsupported value: "{propagation}": supported values: "Background", "Foreground", "Orphan", "nil"'
        raise errors.invalid(
            "DeleteOptions", "", [("propagationPolicy", "FieldValueNotSupported", text)], "meta.k8s.io"
        )
    preconditions = body.get("preconditions") or {}
    return DeleteOptions(
        None if grace is None or grace == "" else int(grace),
        propagation,
        preconditions.get("uid") or "",
        preconditions.get("resourceVersion") or "",
        is_dry_run(request, body.get("dryRun"), "DeleteOptions"),
    )
