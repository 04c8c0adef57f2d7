# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report how the patching of nodes went, from the records of the role node_patch: as a table, as JSON and as JUnit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ...module_utils.text import abbreviate, count_noun

Record = Mapping[str, Any]
NOT_STARTED = "not started"
_FAILURES = ("failed", "refused")
_SKIPPED = (NOT_STARTED, "skipped")
# The keys of a record that the report has, beside the seconds of its steps.
REPORTED = (
    *("host", "node", "state", "step", "message", "next", "refusals", "ended"),
    *("pods", "retries", "blockers", "rebooted", "kubelet_before", "kubelet_after", "control_plane"),
)
# Keeps the table readable; the JSON has the whole message.
_MAX_NOTE = 300
_COLUMNS = ("node", "state", "pods", "retries", "seconds", "kubelet", "note")
_NUMBERS = ("pods", "retries", "seconds")
# What XML 1.0 cannot hold: control characters, lone surrogates and non-characters.
# https://www.w3.org/TR/xml/#charsets
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def record_of(host: Mapping[str, Any], lost: Iterable[str] = ()) -> dict[str, Any]:
    """Return from a host's variables what is reported of its node, with the seconds of each step.

    lost: the hosts that Ansible has dropped from the play, which could not record that themselves.
    """
    kept = host.get("node_patch_record") or {}
    name = str(host.get("inventory_hostname") or "?")
    if not kept.get("state"):
        return {"host": name, "node": name, "state": NOT_STARTED, "steps": {}, "seconds": 0.0, "message": ""}
    record = {key: kept[key] for key in REPORTED if key in kept}
    begun = sorted((kept.get("begun") or {}).items(), key=lambda entry: entry[1])
    ended = record.get("ended") or (begun[-1][1] if begun else 0.0)
    ends = [at for _step, at in begun[1:]] + [ended]
    record["steps"] = {step: round(max(0.0, end - at), 1) for (step, at), end in zip(begun, ends, strict=False)}
    record["seconds"] = round(max(0.0, ended - begun[0][1]), 1) if begun else 0.0
    if record["state"] == "in progress" and name in lost:
        record.update(state="failed", message=f"The host became unreachable (step {record.get('step')}).")
    if record["state"] == "unfinished":
        record["message"] = record.get("message") or "an earlier run did not finish it"
    return record


def table(records: Iterable[Record]) -> list[str]:
    """Return the lines of a table, one for each record after that of the titles."""
    rows = [_COLUMNS, *(_row(record) for record in records)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if title in _NUMBERS else cell.ljust(width)
            for cell, width, title in zip(row, widths, _COLUMNS, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def as_json(records: Iterable[Record]) -> str:
    """Return the records as indented JSON."""
    return json.dumps(list(records), indent=4, sort_keys=True, default=str) + "\n"


def reasons(records: Iterable[Record]) -> str:
    """Return in sentences why nodes were refused. Sentences that differ only in names and numbers appear once, for the
    first node, followed by the names of the others.
    """
    found: dict[str, tuple[str, dict[str, None]]] = {}
    for record in records:
        names = sorted({str(record[key]) for key in ("host", "node") if key in record}, key=len, reverse=True)
        for given in record.get("refusals") or []:
            key = text = str(given)
            for name in names:
                key = key.replace(name, "")
            first, others = found.setdefault("".join(letter for letter in key if not letter.isdigit()), (text, {}))
            if text != first:
                others[names[0]] = None
    return " ".join(
        text[:1].upper() + text[1:] + (f" The same is true of {abbreviate(others)}." if others else "")
        for text, others in found.values()
    )


def describe_rounds(rounds: list[list[str]]) -> str:
    """Return a line with the nodes of each round."""
    if not rounds:
        return "Nothing to do: all nodes are skipped."
    nodes = count_noun(sum(len(hosts) for hosts in rounds), "node")
    listed = "; ".join(", ".join(hosts) for hosts in rounds)
    return f"{nodes} in {count_noun(len(rounds), 'round')}: {listed}"


def junit(records: Iterable[Record], name: str = "node_patch") -> str:
    """Return the records as a test suite in the XML that JUnit made common, a test case for each node."""
    every = list(records)
    failures = sum(record["state"] in _FAILURES for record in every)
    skipped = sum(record["state"] in _SKIPPED for record in every)
    seconds = sum(float(record.get("seconds") or 0) for record in every)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name={_quoted(name)} tests="{len(every)}" failures="{failures}" skipped="{skipped}" '
        f'time="{seconds:.1f}">',
    ]
    for record in every:
        took = float(record.get("seconds") or 0)
        case = f'  <testcase classname={_quoted(name)} name={_quoted(record["node"])} time="{took:.1f}"'
        message = str(record.get("message") or record["state"])
        if record["state"] in _FAILURES:
            text = f"    <failure message={_quoted(message)}>{_escaped(_blockers(record))}</failure>"
            lines += [case + ">", text, "  </testcase>"]
        elif record["state"] in _SKIPPED:
            lines += [case + ">", f"    <skipped message={_quoted(message)}/>", "  </testcase>"]
        else:
            lines.append(case + "/>")
    return "\n".join([*lines, "</testsuite>", ""])


def _row(record: Record) -> tuple[str, ...]:
    if record["state"] == NOT_STARTED:
        return (str(record["node"]), NOT_STARTED, "-", "-", "-", "-", "")
    versions = [str(record.get(key) or "") for key in ("kubelet_before", "kubelet_after")]
    note = " ".join(str(record.get("message") or "").split())
    blockers = record.get("blockers") or []
    if blockers and (not note or record["state"] == "ready"):
        blocked = f"{len(blockers)} blocked now: {_blockers(record).splitlines()[0]}"
        note = f"{note}; {blocked}" if note else blocked
    note = note if len(note) <= _MAX_NOTE else note[: _MAX_NOTE - 3] + "..."
    return (
        str(record["node"]),
        str(record["state"]),
        str(record.get("pods") or 0),
        str(record.get("retries") or 0),
        f"{float(record.get('seconds') or 0):.1f}",
        " -> ".join(dict.fromkeys(version for version in versions if version)) or "-",
        note,
    )


def _blockers(record: Record) -> str:
    return "\n".join(
        f"{pod.get('namespace')}/{pod.get('name')}: {pod.get('message') or pod.get('reason')}"
        for pod in record.get("blockers") or []
    )


def _escaped(text: str) -> str:
    return escape(_NOT_IN_XML.sub(" ", text))


def _quoted(text: Any) -> str:
    return quoteattr(_NOT_IN_XML.sub(" ", str(text)))
