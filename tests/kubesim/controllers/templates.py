# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pod templates: their equality and their hashes."""

from __future__ import annotations

import hashlib
import json

from ..objects import Object

HASH_LABEL = "pod-template-hash"
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # what the API server encodes hashes with, so that no words come out


def hash_of(value: Object) -> str:
    """Return a short name for JSON data: the same data, the same name."""
    digest = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()
    number = int.from_bytes(digest[:5], "big")
    letters = ""
    while len(letters) < 9:
        number, rest = divmod(number, len(_ALPHABET))
        letters += _ALPHABET[rest]
    return letters


def without_hash(template: Object) -> Object:
    """Return the template as its Deployment holds it: without pod-template-hash; its parts are shared."""
    meta = {key: value for key, value in (template.get("metadata") or {}).items() if value}
    meta.pop("creationTimestamp", None)
    if HASH_LABEL in meta.get("labels", {}):
        meta["labels"] = {key: value for key, value in meta["labels"].items() if key != HASH_LABEL}
        if not meta["labels"]:
            del meta["labels"]
    return {**template, "metadata": meta}


def same_template(one: Object, other: Object) -> bool:
    """Return whether two templates make the same pods, pod-template-hash aside."""
    return without_hash(one) == without_hash(other)
