# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the objects that manifests define, in every form that kubernetes.core.k8s accepts.

Error texts name files, lines and documents and never quote a manifest, which may hold secrets.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..errors import InvalidOptions, MaintenanceError, MissingLibrary
from ..objects import Obj, mapping_at

MIN_SECRET_LENGTH = 6
# The fields of a Secret that have its values.
_SECRET_FIELDS = ("data", "stringData")
# What kubectl reads from a folder.
SUFFIXES = (".yaml", ".yml", ".json")


class Described(NamedTuple):
    """An object of a manifest, and its place for error texts."""

    obj: Obj
    place: str


def objects_in(definition: Any, place: str) -> list[Described]:
    """Return the objects of a text with YAML or JSON documents, of a dict, or of a list of these; lists are expanded.

    place: where the definition comes from, for error texts.
    """
    if isinstance(definition, list):
        return [
            found
            for number, entry in enumerate(definition, 1)
            for found in objects_in(entry, f"{place}, entry {number}")
        ]
    if isinstance(definition, str):
        return [found for spot, document in _documents(definition, place) for found in _expanded(document, spot)]
    return list(_expanded(definition, place))


def objects_of_files(paths: tuple[str, ...]) -> list[Described]:
    """Return the objects of files, and of the manifests in folders."""
    return [found for path in paths for file in _files(path) for found in objects_in(_text(file), file)]


def secrets_in(definition: Any) -> set[str]:
    """Return the values of the Secrets of a definition, for Ansible to mask.

    Short values are left out, because they would be masked inside ordinary words. Each line of a longer value is masked
    as well, because YAML shows lines separately. In a text that cannot be parsed, everything may be secret.
    """
    if isinstance(definition, list):
        return {secret for entry in definition for secret in secrets_in(entry)}
    try:
        described = [found.obj for found in objects_in(definition, "")]
    except MaintenanceError:
        values = list(_possible_secrets(definition))
    else:
        secrets = [obj for obj in described if obj.get("kind") == "Secret"]
        values = [value for obj in secrets for key in _SECRET_FIELDS for value in mapping_at(obj, key).values()]
    lines = {line.strip() for value in values for line in str(value).splitlines()}
    return {text for text in {str(value) for value in values} | lines if len(text) >= MIN_SECRET_LENGTH}


def _possible_secrets(definition: Any) -> Iterator[Any]:
    """Yield what may be secret in a definition that cannot be parsed: whole texts, and the fields of Secrets."""
    if isinstance(definition, str):
        yield definition
    for entry in definition if isinstance(definition, list) else [definition]:
        for key, value in entry.items() if isinstance(entry, dict) else ():
            if key in _SECRET_FIELDS:
                yield from value.values() if isinstance(value, dict) else [value]
            elif isinstance(value, (dict, list)):
                yield from _possible_secrets(value)


def _files(path: str) -> list[str]:
    if "\n" in path.strip():
        raise InvalidOptions("the option src: that is the content of a file and not its path: use resource_definition")
    full = os.path.abspath(os.path.expanduser(path))
    if not os.path.isdir(full):
        return [full]
    try:
        names = sorted(name for name in os.listdir(full) if name.endswith(SUFFIXES))
    except OSError as exc:
        raise _unreadable(full, exc) from exc
    if not names:
        raise InvalidOptions(f"the option src: the folder {full} has no file that ends in {', '.join(SUFFIXES)}")
    return [os.path.join(full, name) for name in names]


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except OSError as exc:
        raise _unreadable(path, exc) from exc
    except UnicodeDecodeError as exc:
        raise InvalidOptions(f"the option src: {path} is not UTF-8 text, so it is not a manifest") from exc
    except ValueError as exc:
        raise InvalidOptions(f"the option src: {path!r} is not the path of a file") from exc


def _unreadable(path: str, exc: OSError) -> InvalidOptions:
    why = exc.strerror or type(exc).__name__
    return InvalidOptions(
        f"the option src: {path} cannot be read ({why}); paths are those of the host that the task runs on"
    )


def _documents(text: str, place: str) -> list[tuple[str, Any]]:
    try:
        import yaml  # comes with the kubernetes package
    except ImportError as exc:
        raise MissingLibrary(
            "manifests cannot be read, because the Python package PyYAML is missing; it comes with kubernetes"
        ) from exc
    reached: list[Any] = []
    try:
        documents = list(yaml.load_all(text, Loader=_tolerant(yaml, reached)))
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as exc:
        # The library raises the last ones for values that do not match their tags, such as "!!bool x".
        spot = _spot(exc, text, reached, hasattr(yaml, "CSafeLoader"))
        raise InvalidOptions(f"{place} is neither YAML nor JSON ({spot}): correct it") from None
    if len(documents) == 1:
        return [(place, documents[0])]
    return [(f"{place}, document {number}", document) for number, document in enumerate(documents, 1)]


def _spot(exc: Exception, text: str, reached: list[Any], in_bytes: bool) -> str:
    """Return where in a text an error of the YAML library is. in_bytes: its reader counts bytes and not characters."""
    mark = getattr(exc, "problem_mark", None) or (reached[-1] if reached else None)
    position = getattr(exc, "position", getattr(exc, "start", None))
    if isinstance(position, int):
        raw = text.encode("utf-8", "surrogatepass") if in_bytes and not isinstance(exc, UnicodeError) else None
        before = text[:position] if raw is None else raw[:position].decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        return f"line {line}, column {column}"
    return f"line {mark.line + 1}, column {mark.column + 1}" if mark is not None else "nested too deeply"


def _tolerant(yaml: Any, reached: list[Any]) -> Any:
    """Return a safe loader that accepts unknown tags and a bare C(=): only names matter here.

    reached: gets the place of the last value that was read.
    """
    # The C parser is ten times as fast, and not part of every build.
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    def construct(self: Any, node: Any, deep: bool = False) -> Any:
        reached[:] = [node.start_mark]
        return base.construct_object(self, node, deep)

    loader: Any = type("ManifestLoader", (base,), {"construct_object": construct})
    loader.add_constructor(None, lambda reader, node: None)
    loader.add_constructor("tag:yaml.org,2002:value", lambda reader, node: reader.construct_scalar(node))
    return loader


def _expanded(document: Any, place: str, lists: set[int] | None = None) -> Iterator[Described]:
    """Yield an object, or those of a list. lists: those already expanded, since an alias may repeat one.

    Aliases can make a list its own item, or a few lines of YAML millions of objects.
    """
    lists = set() if lists is None else lists
    if document is None:
        # An empty document, between two lines of dashes.
        return
    if isinstance(document, str):
        raise InvalidOptions(f"{place} is plain text and not an object; use src for the path of a file")
    if not isinstance(document, dict):
        raise InvalidOptions(f"{place} is not an object with apiVersion, kind and metadata")
    if not document.get("kind"):
        raise InvalidOptions(f"{place} has no kind, so it is unclear what it defines")
    items = document.get("items")
    if str(document["kind"]).endswith("List") and (items is None or isinstance(items, list)):
        if items and id(items) not in lists:
            lists.add(id(items))
            for number, item in enumerate(items, 1):
                yield from _expanded(_typed(item, document), f"{place}, item {number}", lists)
        return
    yield Described(document, place)


def _typed(item: Any, parent: Obj) -> Any:
    """Return an item of a list with its kind, which items of a list such as DeploymentList may lack."""
    kind = str(parent["kind"])[: -len("List")]
    if not kind or not isinstance(item, dict):
        return item
    return dict({"kind": kind, "apiVersion": parent.get("apiVersion")}, **item)
