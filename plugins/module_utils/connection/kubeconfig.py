# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read kubeconfig files, merge them and choose a context, by kubectl's rules.

Of several files the first that defines a cluster, user, context or the current context wins; missing files are passed
over while one is there; relative paths belong to the folder of the file that holds them. Errors never repeat content.
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
# So many names of contexts stand in an error.
SHOWN_NAMES = 8


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
        """Return a value as text; null, absent and anything that is no scalar are ""."""
        return _text(self.body.get(key))

    def part(self, key: str) -> dict[str, Any]:
        """Return a nested mapping, {} when there is none."""
        value = self.body.get(key)
        return value if isinstance(value, dict) else {}

    def true(self, key: str) -> bool:
        """Tell whether a value is true, written as a boolean or as text."""
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

    C(given_as) says who named it, such as C(option kubeconfig).
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
            "The kubeconfig %s (%s) does not exist: give the path of one that does." % (named, given_as)
        )
    merged = Kubeconfig("kubeconfig " + named + (" (%s)" % given_as if given_as.startswith("environment") else ""))
    documents = [(path, _parse(path)) for path in present]
    if not any(document for path, document in documents):
        raise InvalidConfiguration(
            "The kubeconfig %s is empty: give one with clusters, users and contexts." % os.pathsep.join(present)
        )
    for path, document in documents:
        _merge(merged, document, path)
    return merged


def select_context(config: Kubeconfig, wanted: str, wanted_by: str = "option context") -> Selection:
    """Return the wanted context, the current one if none is wanted. wanted_by: who wants it, for errors."""
    contexts = config.entries["contexts"]
    name = wanted or config.current_context
    if not name:
        raise InvalidConfiguration(
            "In %s no context is current: name one with context%s." % (config.origin, _names(contexts))
        )
    if name not in contexts:
        asked = " (%s)" % wanted_by if wanted else ""
        whose = "" if wanted else ", its current-context"
        raise InvalidConfiguration(
            "There is no context '%s'%s in %s%s%s." % (name, asked, config.origin, whose, _suggestion(name, contexts))
        )
    context = contexts[name]
    cluster = _joined(config, context, "cluster")
    if cluster is None:
        raise InvalidConfiguration("The context '%s' in %s names no cluster: add one." % (name, config.origin))
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
            "The context '%s' in %s uses the %s '%s', which is not defined there%s."
            % (context.name, config.origin, kind, name, _suggestion(name, entries, kind + "s"))
        )
    return entries[name]


def _suggestion(name: str, entries: dict[str, Entry], what: str = "contexts") -> str:
    near = difflib.get_close_matches(name, list(entries), n=1, cutoff=0.6)
    return ": did you mean '%s'" % near[0] if near else _names(entries, what)


def _names(entries: dict[str, Entry], what: str = "contexts") -> str:
    if not entries:
        return ": it holds no %s" % what
    names = list(entries)
    more = ", ..." if len(names) > SHOWN_NAMES else ""
    return ": it holds the %s %s%s" % (what, ", ".join("'%s'" % name for name in names[:SHOWN_NAMES]), more)


def _paths(source: Any, given_as: str) -> list[str]:
    if isinstance(source, list) and all(isinstance(item, str) and not is_content(item) for item in source):
        items = source
    elif isinstance(source, str) and not is_content(source):
        items = source.split(os.pathsep)
    else:
        # A kubeconfig's text, perhaps: it is full of secrets, so nothing of it is repeated.
        raise InvalidConfiguration(
            "The value of %s is neither a path nor a dictionary: give the path of a kubeconfig, or its content"
            " through the filter from_yaml." % given_as
        )
    return [os.path.abspath(os.path.expanduser(item)) for item in items if item]


def _parse(path: str) -> dict[str, Any]:
    import yaml  # comes with the kubernetes package, which connection.py has asked for before

    # The C parser is ten times as fast, and not part of every build.
    loader: Any = type("KubeconfigLoader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
    for tag in ("timestamp", "binary"):
        # A namespace may be called 2026-11-30, and JSON for plugins knows neither dates nor bytes.
        loader.add_constructor("tag:yaml.org,2002:" + tag, lambda reader, node: reader.construct_scalar(node))
    try:
        with open(path, encoding="utf-8-sig") as file:
            document = yaml.load(file, Loader=loader)  # noqa: S506
    except OSError as exc:
        text = "The kubeconfig %s cannot be read (%s): give a file that the task's user may read."
        raise InvalidConfiguration(text % (path, exc.strerror or "it is not a readable file")) from exc
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as exc:
        # The last ones are what the library raises for values that their tags do not fit, such as "!!bool x".
        mark = getattr(exc, "problem_mark", None)
        where = " (line %d, column %d)" % (mark.line + 1, mark.column + 1) if mark is not None else ""
        # The parser quotes lines of the file, and with them tokens.
        raise InvalidConfiguration(
            "The kubeconfig %s is not valid YAML%s: correct it or give another." % (path, where)
        ) from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise InvalidConfiguration(
            "The kubeconfig %s is not a mapping of clusters, users and contexts: give the path of a kubeconfig." % path
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
                "In %s, %s is not a list of entries that have a name and a %s: correct it." % (where, section, key)
            )
        if name in found:
            raise InvalidConfiguration("In %s, %s holds '%s' twice: keep one of them." % (where, section, name))
        found[name] = Entry(name, body, file)
    return found


def replace_in_file(entry: Entry, section: str, key: str, part: str, value: dict[str, Any]) -> None:
    """Write a part of an entry back to its file, in one step, so that nobody reads half a file."""
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
            "What was renewed for '%s' cannot be written to %s (%s): make the file writable, or unset persist_config."
            % (entry.name, entry.file, type(exc).__name__)
        ) from None
