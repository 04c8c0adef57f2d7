# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the secrets in addresses, commands and kubeconfigs, and show a task's arguments without them.

There are two ways to keep a secret, and both are needed. By its place: an argument that may hold credentials is not
shown at all, however short they are. By its value: what a plugin or a server repeats elsewhere is masked. By value
only what is certainly secret or long is masked, because a word such as "prod" would vanish from every sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

# What Ansible itself writes in place of a secret option.
HIDDEN = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
# An argument or variable of a plugin that is that long counts as a secret wherever it appears.
LONG = 12
# What may follow the switch of a secret instead of one: --use-token=true.
_COMMON = {"true", "false", "yes", "no", "on", "off", "none", "null", "auto"}
_SECRET_NAME = re.compile(
    r"token|secret|passw|passphrase|credential|private|key|assertion|(?:^|[-_])(?:pat|pwd|pw|auth|jwt)(?:$|[-_\d])",
    re.IGNORECASE,
)
_NAME_OF_PLACE = re.compile(r"(?:file|path|dir|url|uri|type|mode|cache|name|[-_]id|^client-key)$", re.IGNORECASE)
# Keys of a kubeconfig whose values are used in messages.
_PUBLIC_KEYS = {"name", "cluster", "user", "namespace", "current-context", "server", "command", "apiVersion"}
_ADDRESS_KEYS = {"server", "proxy-url"}
# Options that are addresses also without a scheme.
_ADDRESS_OPTIONS = {"host", "proxy", "no_proxy"}
_WORD = re.compile(r"[^\s\"'`=,;:{}()\[\]<>|&]+")
# What follows a name; an = at the end of base64 does not make one.
_NAMES_NEXT = re.compile(r"[\"']?\s*(?::|=(?!=|$))")
_LOGIN = re.compile(r"([A-Za-z][\w+.-]*://)[^\s\"']*@")
_ADDRESS = re.compile(r"(?:([A-Za-z][\w+.-]*)://)?(\S*)@")
# The most bytes of a name in a file system; a kubeconfig in base64 has more.
_MAX_NAME = 255


def is_content(text: str) -> bool:
    """Return whether a text is the content of a file and not its path: it is then never repeated."""
    return (
        "\n" in text.strip()
        # The last one is a PEM text in base64.
        or text.lstrip().startswith(("{", "[", "-----BEGIN", "LS0tLS1CRUdJTi"))
        # YAML whose lines a folded scalar has joined.
        or ": " in text
        or any(len(name.encode("utf-8", "replace")) > _MAX_NAME for name in re.split("[/:]", text))
    )


def without_logins(text: str) -> str:
    """Return a text in which user and password of each URL are masked."""
    return _LOGIN.sub(r"\1***@", text)


def passwords_in(text: str) -> set[str]:
    """Return the passwords in addresses, as written and as sent; the scheme may be missing.

    A password may contain what should have been encoded, such as # and /. A long user name without one may be a token.
    """
    found: set[str] = set()
    for match in _ADDRESS.finditer(text):
        user, colon, password = match[2].partition(":")
        secret = password if colon else user
        if password or len(user) >= LONG:
            found |= {secret, unquote(secret)}
    return found


def is_secret_name(name: str) -> bool:
    """Return whether an option, a switch or a variable of that name has a secret value."""
    return bool(_SECRET_NAME.search(name)) and not _NAME_OF_PLACE.search(name)


def secrets_of_command(args: Sequence[str], env: Mapping[str, str]) -> set[str]:
    """Return the secrets in the arguments and variables of a program, as values to mask in its output."""
    sure, likely = _of_command(args, env)
    return sure | likely


def secrets_of_kubeconfig(config: Any) -> set[str]:
    """Return the secrets in a kubeconfig: a dict, a list, or a text with its content. A path has none.

    What is part of a name or an address in the same kubeconfig is left out, unless its place says that it is secret.
    """
    if isinstance(config, str):
        return _union(_in_text("", config)) if is_content(config) else set()
    sure: set[str] = set()
    likely: set[str] = set()
    public: list[str] = []
    for key, value in _leaves(config):
        if isinstance(value, dict):
            more_sure, more_likely = _of_command(_texts(value.get("args")), _environment(value))
        else:
            more_sure, more_likely = _of_leaf(key, value)
        if key in _PUBLIC_KEYS:
            public.append(str(value))
        sure |= more_sure
        likely |= more_likely
    return sure | {value for value in likely if not any(value in name for name in public)}


def shown(params: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as they may be shown. spec: the argument spec that they are given for.

    Hidden are unknown options (they may be misspelt and secret), secret options, contents of files that are given in
    place of a path, and logins in addresses.
    """
    known = {name: option for key, option in spec.items() for name in (key, *option.get("aliases", ()))}
    return {name: _shown(name, value, known.get(name)) for name, value in params.items()}


def _shown(name: str, value: Any, option: Mapping[str, Any] | None) -> Any:
    if value is None or isinstance(value, bool) or value in ({}, []):
        return value
    if option is None or option.get("no_log"):
        return HIDDEN
    kind = option.get("type", "str")
    if isinstance(value, (list, tuple)):
        return [_shown(name, item, {**option, "type": option.get("elements", kind)}) for item in value]
    if isinstance(value, dict) and "dict" not in (kind, option.get("elements")):
        return HIDDEN
    if option.get("options"):
        return shown(value, option["options"]) if isinstance(value, dict) else HIDDEN
    if isinstance(value, dict):
        return {key: without_logins(item) if isinstance(item, str) else item for key, item in value.items()}
    if not isinstance(value, str):
        return value
    if is_content(value) if kind in ("raw", "path") else "\n" in value.strip() or value.lstrip().startswith("{"):
        return HIDDEN
    if name in _ADDRESS_OPTIONS and "://" not in value and "@" in value:
        return "***@" + value.rpartition("@")[2]
    return without_logins(value)


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield keys and single values, and each dict that describes a command as a whole, before what is in it."""
    if isinstance(value, dict):
        if "args" in value or "env" in value:
            yield key, value
        for name, item in value.items():
            yield from _leaves(item, str(name))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item, key)
    elif value is not None and not isinstance(value, bool):
        yield key, value


def _of_leaf(key: str, value: Any) -> tuple[set[str], set[str]]:
    text = str(value)
    if is_secret_name(key):
        return _in_text(key, text)
    if key == "cmd-args":
        return _of_command(text.split(), {})
    return (passwords_in(text) if key in _ADDRESS_KEYS or "://" in text else set()), set()


def _of_command(args: Sequence[str], env: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """Return what is secret for sure, because of its name, and what may be, because it is long."""
    sure: set[str] = set()
    likely: set[str] = set()
    before = ""
    for arg in args:
        name, equals, value = arg.partition("=") if arg.startswith("-") else (before, "", arg)
        before = "" if equals else name if arg.startswith("-") else ""
        if equals or not arg.startswith("-"):
            found = _in_text(name, value)
            sure |= found[0]
            likely |= found[1]
    for name, value in env.items():
        found = _in_text(name, value)
        sure |= found[0]
        likely |= found[1]
    return sure, likely


def _in_text(name: str, text: str) -> tuple[set[str], set[str]]:
    """Return what is secret for sure and what may be in a value of that name, which may be a script or a document."""
    sure, likely = passwords_in(text), {text, unquote(text)}
    if is_secret_name(name):
        # Each line as well, because texts are shown and logged line by line.
        sure |= {text, unquote(text), *(line.strip() for line in text.splitlines())}
    before, end = "", 0
    for match in _WORD.finditer(text):
        between = text[end : match.start()]
        named = before and is_secret_name(before) and (before.startswith("-") or "=" in between or ":" in between)
        if named and not match[0].startswith("-"):
            sure.add(match[0])
        if not _NAMES_NEXT.match(text, match.end()):
            likely.add(match[0])
        before, end = match[0], match.end()
    sure = {value for value in sure if len(value) > 1 and value.lower() not in _COMMON}
    return sure, {value for value in likely if len(value) >= LONG and not value.startswith("-")}


def _union(found: tuple[set[str], set[str]]) -> set[str]:
    return found[0] | found[1]


def _texts(values: Any) -> list[str]:
    return [str(value) for value in values] if isinstance(values, list) else [str(values)] if values else []


def _environment(command: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables of a plugin: a list of name and value, or a dict, which is wrong but as secret."""
    env = command.get("env")
    if isinstance(env, dict):
        return {str(name): str(value) for name, value in env.items()}
    entries = [entry for entry in env or [] if isinstance(entry, dict)] if isinstance(env, list) else []
    return {str(entry.get("name")): str(entry.get("value")) for entry in entries if entry.get("value") is not None}
