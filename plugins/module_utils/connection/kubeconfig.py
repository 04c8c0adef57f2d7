# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read kubeconfig files, merge them and choose a context, by kubectl's rules.

Of several files the first that defines a cluster, user, context or the current context wins; missing files are ignored
if there is one; paths are relative to the folder of their file. Errors never repeat content.
"""

from __future__ import annotations

import difflib
import os
import tempfile
from dataclasses import dataclass, field
from typing import Any

from ..errors import InvalidConfiguration
from .secrecy import is_content

SECTIONS = {"clusters": "cluster", "users": "user", "contexts": "context"}
SHOWN_NAMES = 8  # the most that an error lists


@dataclass
class Entry:
    """A cluster, user or context: its content, and the file it comes from ("" for a dictionary)."""

    name: str
    body: dict[str, Any] = field(repr=False)
    file: str

    def path(self, value: str) -> str:
        """Return a path of this entry as an absolute one."""
        folder = os.path.dirname(os.path.abspath(self.file)) if self.file else os.getcwd()
        return os.path.normpath(os.path.join(folder, os.path.expanduser(value)))

    def text(self, key: str) -> str:
        """Return a value as text; null, absent and anything that is not a scalar are ""."""
        return _text(self.body.get(key))

    def part(self, key: str) -> dict[str, Any]:
        """Return a nested mapping, {} when there is none."""
        value = self.body.get(key)
        return value if isinstance(value, dict) else {}

    def true(self, key: str) -> bool:
        """Return whether a value is true, written as a boolean or as text."""
        return str(self.body.get(key)).lower() == "true"


@dataclass
class Kubeconfig:
    """One or several kubeconfigs merged. C(origin) names them in errors."""

    origin: str
    current_context: str = ""
    entries: dict[str, dict[str, Entry]] = field(default_factory=lambda: {section: {} for section in SECTIONS})


@dataclass(frozen=True)
class Selection:
    """A context with the cluster and the user it joins; user is None where the context names none."""

    origin: str
    context: Entry
    cluster: Entry
    user: Entry | None


def read_kubeconfig(source: Any, given_as: str) -> Kubeconfig:
    """Return the kubeconfig at a path, at several paths (joined as in KUBECONFIG, or a list), or in a dictionary.

    given_as: what names it, such as C(option kubeconfig).
    """
    if isinstance(source, dict):
        merged = Kubeconfig("the kubeconfig dictionary")
        _merge(merged, source, "")
        return merged
    paths = _paths(source, given_as)
    present = [path for path in paths if os.path.exists(path)]
    named = os.pathsep.join(paths)
    if not present:
        raise InvalidConfiguration(
            f"The kubeconfig {named} ({given_as}) does not exist: give the path of one that does."
        )
    merged = Kubeconfig("kubeconfig " + named + (f" ({given_as})" if given_as.startswith("environment") else ""))
    documents = [(path, _parse(path)) for path in present]
    if not any(document for path, document in documents):
        raise InvalidConfiguration(
            f"The kubeconfig {os.pathsep.join(present)} is empty: give one with clusters, users and contexts."
        )
    for path, document in documents:
        _merge(merged, document, path)
    return merged


def select_context(config: Kubeconfig, wanted: str, wanted_by: str = "option context") -> Selection:
    """Return the wanted context, the current one if none is wanted. wanted_by: what names it, for errors."""
    contexts = config.entries["contexts"]
    name = wanted or config.current_context
    if not name:
        raise InvalidConfiguration(
            f"In {config.origin} no context is current: name one with context{_names(contexts)}."
        )
    if name not in contexts:
        asked, whose = (f" ({wanted_by})", "") if wanted else ("", ", its current-context")
        raise InvalidConfiguration(
            f"There is no context '{name}'{asked} in {config.origin}{whose}{_suggestion(name, contexts)}."
        )
    context = contexts[name]
    cluster = _joined(config, context, "cluster")
    if cluster is None:
        raise InvalidConfiguration(f"The context '{name}' in {config.origin} names no cluster: add one.")
    return Selection(config.origin, context, cluster, _joined(config, context, "user"))


def _text(value: Any) -> str:
    """Return a scalar as kubectl reads it where a text belongs: a user called no is called false."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (str, int, float)) else ""


def _joined(config: Kubeconfig, context: Entry, kind: str) -> Entry | None:
    name = context.text(kind)
    if not name:
        return None
    entries = config.entries[kind + "s"]
    if name not in entries:
        raise InvalidConfiguration(
            "The context '{}' in {} uses the {} '{}', which is not defined there{}.".format(
                context.name, config.origin, kind, name, _suggestion(name, entries, kind + "s")
            )
        )
    return entries[name]


def _suggestion(name: str, entries: dict[str, Entry], what: str = "contexts") -> str:
    near = difflib.get_close_matches(name, list(entries), n=1, cutoff=0.6)
    return f": did you mean '{near[0]}'" if near else _names(entries, what)


def _names(entries: dict[str, Entry], what: str = "contexts") -> str:
    if not entries:
        return f": it holds no {what}"
    names = list(entries)
    more = ", ..." if len(names) > SHOWN_NAMES else ""
    return ": it holds the {} {}{}".format(what, ", ".join(f"'{name}'" for name in names[:SHOWN_NAMES]), more)


def _paths(source: Any, given_as: str) -> list[str]:
    if isinstance(source, list) and all(isinstance(item, str) and not is_content(item) for item in source):
        items = source
    elif isinstance(source, str) and not is_content(source):
        items = source.split(os.pathsep)
    else:
        # It is full of secrets, so nothing of it is repeated.
        raise InvalidConfiguration(
            f"The value of {given_as} is neither a path nor a dictionary: give the path of a kubeconfig, or its content"
            " through the filter from_yaml."
        )
    return [os.path.abspath(os.path.expanduser(item)) for item in items if item]


def _parse(path: str) -> dict[str, Any]:
    import yaml  # comes with the kubernetes package, which connect() has checked for

    # The C parser is ten times as fast, and not part of every build.
    loader: Any = type("KubeconfigLoader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
    for tag in ("timestamp", "binary"):
        # A namespace may be called 2026-11-30, and JSON for plugins knows neither dates nor bytes.
        loader.add_constructor("tag:yaml.org,2002:" + tag, lambda reader, node: reader.construct_scalar(node))
    try:
        with open(path, encoding="utf-8-sig") as file:
            document = yaml.load(file, Loader=loader)  # noqa: S506
    except OSError as exc:
        why = exc.strerror or "it is not a readable file"
        text = f"The kubeconfig {path} cannot be read ({why}): give a file that the task's user may read."
        raise InvalidConfiguration(text) from exc
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as exc:
        # The last ones are what the library raises for values that their tags do not fit, such as "!!bool x".
        mark = getattr(exc, "problem_mark", None)
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else ""
        # The parser quotes lines of the file, and with them tokens.
        raise InvalidConfiguration(
            f"The kubeconfig {path} is not valid YAML{where}: correct it or give another."
        ) from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise InvalidConfiguration(
            f"The kubeconfig {path} is not a mapping of clusters, users and contexts: give the path of a kubeconfig."
        )
    return document


def _merge(merged: Kubeconfig, document: dict[str, Any], file: str) -> None:
    where = "kubeconfig " + file if file else merged.origin
    for section, key in SECTIONS.items():
        known = merged.entries[section]
        for name, entry in _entries(document, section, key, file, where).items():
            known.setdefault(name, entry)
    merged.current_context = merged.current_context or _text(document.get("current-context"))


def _entries(document: dict[str, Any], section: str, key: str, file: str, where: str) -> dict[str, Entry]:
    items = document.get(section) or []
    found: dict[str, Entry] = {}
    for item in items if isinstance(items, list) else [None]:
        entry = item if isinstance(item, dict) else {}
        name = _text(entry.get("name"))
        body = entry.get(key) or {}
        if not name or not isinstance(body, dict):
            raise InvalidConfiguration(
                f"In {where}, {section} is not a list of entries that have a name and a {key}: correct it."
            )
        if name in found:
            raise InvalidConfiguration(f"In {where}, {section} holds '{name}' twice: keep one of them.")
        found[name] = Entry(name, body, file)
    return found


def replace_in_file(entry: Entry, section: str, key: str, part: str, value: dict[str, Any]) -> None:
    """Write a part of an entry back to its file, atomically."""
    import yaml

    if not entry.file:
        return
    path = os.path.realpath(entry.file)
    try:
        document = _parse(path)
        for item in document[section]:
            if _text(item.get("name")) == entry.name:
                item[key][part] = value
        text = yaml.safe_dump(document, default_flow_style=False, sort_keys=False)
        handle, draft = tempfile.mkstemp(dir=os.path.dirname(path))
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(draft, os.stat(path).st_mode & 0o777)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise
    except (OSError, KeyError, TypeError, yaml.YAMLError) as exc:
        raise InvalidConfiguration(
            f"The renewed login of '{entry.name}' cannot be written to {entry.file} ({type(exc).__name__}): make the"
            " file writable, or unset persist_config."
        ) from None
