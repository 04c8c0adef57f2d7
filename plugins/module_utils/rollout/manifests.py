# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the objects that manifests describe, in every form in which kubernetes.core.k8s takes them.

Error texts name files, lines and documents and never quote a manifest, which may hold secrets.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..errors import InvalidOptions, MaintenanceError, MissingLibrary
from ..objects import Obj, mapping_at

SHORTEST_SECRET = 6
# Where a Secret has its values.
_HOLDS = ("data", "stringData")
# What kubectl takes from a folder.
SUFFIXES = (".yaml", ".yml", ".json")


class Described(NamedTuple):
    """An object of a manifest, and where it stands for error texts."""

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
            for found in objects_in(entry, "%s, entry %d" % (place, number))
        ]
    if isinstance(definition, str):
        return [found for spot, document in _documents(definition, place) for found in _expanded(document, spot)]
    return list(_expanded(definition, place))


def objects_of_files(paths: tuple[str, ...]) -> list[Described]:
    """Return the objects of files, and of the manifests that stand in folders."""
    return [found for path in paths for file in _files(path) for found in objects_in(_text(file), file)]


def secrets_in(definition: Any) -> set[str]:
    """Return what the Secrets of a definition hold, so that it can be kept out of what Ansible repeats.

    Short values are left out, because they would be masked inside ordinary words. Each line of a longer value counts as
    well, because YAML shows lines apart. Of a text that cannot be parsed everything may be secret.
    """
    if isinstance(definition, list):
        return {secret for entry in definition for secret in secrets_in(entry)}
    try:
        described = [found.obj for found in objects_in(definition, "")]
    except MaintenanceError:
        values = list(_held(definition))
    else:
        secrets = [obj for obj in described if obj.get("kind") == "Secret"]
        values = [value for obj in secrets for key in _HOLDS for value in mapping_at(obj, key).values()]
    lines = {line.strip() for value in values for line in str(value).splitlines()}
    return {text for text in {str(value) for value in values} | lines if len(text) >= SHORTEST_SECRET}


def _held(definition: Any) -> Iterator[Any]:
    """Yield what may be secret of a definition that is not understood: a text as it is, and what Secrets hold."""
    if isinstance(definition, str):
        yield definition
    for entry in definition if isinstance(definition, list) else [definition]:
        for key, value in entry.items() if isinstance(entry, dict) else ():
            if key in _HOLDS:
                yield from value.values() if isinstance(value, dict) else [value]
            elif isinstance(value, (dict, list)):
                yield from _held(value)


def _files(path: str) -> list[str]:
    if "\n" in path.strip():
        raise InvalidOptions("the option src: what is given is no path but the content of one: use resource_definition")
    full = os.path.abspath(os.path.expanduser(path))
    if not os.path.isdir(full):
        return [full]
    try:
        names = sorted(name for name in os.listdir(full) if name.endswith(SUFFIXES))
    except OSError as exc:
        raise _unreadable(full, exc) from exc
    if not names:
        raise InvalidOptions("the option src: the folder %s has no file that ends in %s" % (full, ", ".join(SUFFIXES)))
    return [os.path.join(full, name) for name in names]


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except OSError as exc:
        raise _unreadable(path, exc) from exc
    except UnicodeDecodeError as exc:
        raise InvalidOptions("the option src: %s is not UTF-8 text, so it is not a manifest" % path) from exc
    except ValueError as exc:
        raise InvalidOptions("the option src: %r is not the path of a file" % path) from exc


def _unreadable(path: str, exc: OSError) -> InvalidOptions:
    return InvalidOptions(
        "the option src: %s cannot be read (%s); paths are those of the host that the task runs on"
        % (path, exc.strerror or type(exc).__name__)
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
        # The last ones are what the library raises for values that their tags do not fit, such as "!!bool x".
        spot = _spot(exc, text, reached, hasattr(yaml, "CSafeLoader"))
        raise InvalidOptions("%s is neither YAML nor JSON (%s): correct it" % (place, spot)) from None
    if len(documents) == 1:
        return [(place, documents[0])]
    return [("%s, document %d" % (place, number), document) for number, document in enumerate(documents, 1)]


def _spot(exc: Exception, text: str, reached: list[Any], in_bytes: bool) -> str:
    """Return where in a text an error of the YAML library is. in_bytes: its reader counts bytes and not characters."""
    mark = getattr(exc, "problem_mark", None) or (reached[-1] if reached else None)
    position = getattr(exc, "position", getattr(exc, "start", None))
    if isinstance(position, int):
        raw = text.encode("utf-8", "surrogatepass") if in_bytes and not isinstance(exc, UnicodeError) else None
        before = text[:position] if raw is None else raw[:position].decode("utf-8", "replace")
        return "line %d, column %d" % (before.count("\n") + 1, len(before) - before.rfind("\n"))
    return "line %d, column %d" % (mark.line + 1, mark.column + 1) if mark is not None else "nested too deeply"


def _tolerant(yaml: Any, reached: list[Any]) -> Any:
    """Return a safe loader to which a tag or a bare C(=) is no error: only names are of interest here.

    reached: gets the place of the value that it came to last.
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
    """Yield an object, or those of a list. lists: those of the document that were seen, as an alias may name one again.

    Aliases can make a list its own item, or a few lines of YAML millions of objects.
    """
    lists = set() if lists is None else lists
    if document is None:
        # What stands between two lines of dashes.
        return
    if isinstance(document, str):
        raise InvalidOptions("%s is plain text and not an object; use src for the path of a file" % place)
    if not isinstance(document, dict):
        raise InvalidOptions("%s is not an object with apiVersion, kind and metadata" % place)
    if not document.get("kind"):
        raise InvalidOptions("%s has no kind, so it is unclear what it describes" % place)
    items = document.get("items")
    if str(document["kind"]).endswith("List") and (items is None or isinstance(items, list)):
        if items and id(items) not in lists:
            lists.add(id(items))
            for number, item in enumerate(items, 1):
                yield from _expanded(_typed(item, document), "%s, item %d" % (place, number), lists)
        return
    yield Described(document, place)


def _typed(item: Any, parent: Obj) -> Any:
    """Return an item of a list with its kind, which lists of one kind (DeploymentList) leave to their own name."""
    kind = str(parent["kind"])[: -len("List")]
    if not kind or not isinstance(item, dict):
        return item
    return dict({"kind": kind, "apiVersion": parent.get("apiVersion")}, **item)
