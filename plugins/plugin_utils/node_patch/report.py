# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell people and programs how the patching of nodes went, from the records of the role node_patch."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ...module_utils.text import abbreviate, count_noun

Record = Mapping[str, Any]
_FAILURES = ("failed", "refused")
# The rest of a sentence is in the JSON; a table with a line of a kilobyte is none.
_LONGEST_NOTE = 300
_COLUMNS = ("node", "state", "pods", "retries", "seconds", "kubelet", "note")
_NUMBERS = ("pods", "retries", "seconds")
# What XML 1.0 cannot hold: control characters, lone surrogates and non-characters.
# https://www.w3.org/TR/xml/#charsets
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def record_of(host: Mapping[str, Any], lost: Iterable[str] = ()) -> dict[str, Any]:
    """Return a host's record with the seconds of each step, from the host's variables; of a host that nothing was done
    to, a record that says so. lost: the hosts that Ansible has given up, whose own records could not say so."""
    record = dict(host.get("node_patch_record") or {})
    name = str(host.get("inventory_hostname") or "?")
    if not record:
        return {"host": name, "node": name, "state": "not touched", "steps": {}, "seconds": 0.0, "message": ""}
    # Templates of ansible-core before 2.19 make texts of numbers.
    for key, kind in (("node", str), ("pods", int), ("retries", int), ("ended", float)):
        if key in record:
            record[key] = kind(record[key])
    begun = [(str(step), float(at)) for step, at in (record.pop("begun", None) or {}).items()]
    begun.sort(key=lambda entry: entry[1])
    ended = float(record.get("ended") or 0) or (begun[-1][1] if begun else 0.0)
    ends = [at for _step, at in begun[1:]] + [ended]
    record["steps"] = {step: round(max(0.0, end - at), 1) for (step, at), end in zip(begun, ends, strict=False)}
    record["seconds"] = round(max(0.0, ended - begun[0][1]), 1) if begun else 0.0
    if record.get("state") == "under way" and name in lost:
        record.update(state="failed", message="The host became unreachable (step %s)." % record.get("step"))
    if record.get("state") == "unfinished":
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
    """Return the records as JSON that people can read, too."""
    return json.dumps(list(records), indent=4, sort_keys=True, default=str) + "\n"


def reasons(records: Iterable[Record]) -> str:
    """Return in sentences why nodes were refused. What differs from one node to another only in names and numbers is
    told of the first one, with the names of the others behind it; what is the same for all is told once.
    """
    told: dict[str, tuple[str, dict[str, None]]] = {}
    for record in records:
        names = sorted({str(record["host"]), str(record.get("node") or record["host"])}, key=len, reverse=True)
        for given in record.get("refusals") or []:
            key = text = str(given)
            for name in names:
                key = key.replace(name, "")
            said, others = told.setdefault("".join(letter for letter in key if not letter.isdigit()), (text, {}))
            if text != said:
                others[names[0]] = None
    return " ".join(
        text[:1].upper() + text[1:] + (" The same is true of %s." % abbreviate(others) if others else "")
        for text, others in told.values()
    )


def counted_rounds(rounds: list[list[str]]) -> str:
    """Return a line with the nodes of each round."""
    if not rounds:
        return "Nothing to do: all nodes are passed over."
    nodes = count_noun(sum(len(hosts) for hosts in rounds), "node")
    return "%s in %s: %s" % (nodes, count_noun(len(rounds), "round"), "; ".join(", ".join(hosts) for hosts in rounds))


def junit(records: Iterable[Record], name: str = "node_patch") -> str:
    """Return the records as a test suite in the XML that JUnit made common, a test case for each node."""
    every = list(records)
    failures = sum(record["state"] in _FAILURES for record in every)
    skipped = sum(record["state"] in ("not touched", "passed over") for record in every)
    seconds = sum(float(record.get("seconds") or 0) for record in every)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<testsuite name=%s tests="%d" failures="%d" skipped="%d" time="%.1f">'
        % (_quoted(name), len(every), failures, skipped, seconds),
    ]
    for record in every:
        case = '  <testcase classname=%s name=%s time="%.1f"' % (
            _quoted(name),
            _quoted(record["node"]),
            float(record.get("seconds") or 0),
        )
        message = str(record.get("message") or record["state"])
        if record["state"] in _FAILURES:
            text = "    <failure message=%s>%s</failure>" % (_quoted(message), _escaped(_blockers(record)))
            lines += [case + ">", text, "  </testcase>"]
        elif record["state"] in ("not touched", "passed over"):
            lines += [case + ">", "    <skipped message=%s/>" % _quoted(message), "  </testcase>"]
        else:
            lines.append(case + "/>")
    return "\n".join([*lines, "</testsuite>", ""])


def _row(record: Record) -> tuple[str, ...]:
    if record["state"] == "not touched":
        return (str(record["node"]), "not touched", "-", "-", "-", "-", "")
    versions = [str(record.get(key) or "") for key in ("kubelet_before", "kubelet_after")]
    note = " ".join(str(record.get("message") or "").split())
    blockers = record.get("blockers") or []
    if blockers and (not note or record["state"] == "can go"):
        held = "%d held now: %s" % (len(blockers), _blockers(record).splitlines()[0])
        note = "%s; %s" % (note, held) if note else held
    note = note if len(note) <= _LONGEST_NOTE else note[: _LONGEST_NOTE - 3] + "..."
    return (
        str(record["node"]),
        str(record["state"]),
        str(record.get("pods") or 0),
        str(record.get("retries") or 0),
        "%.1f" % float(record.get("seconds") or 0),
        " -> ".join(dict.fromkeys(version for version in versions if version)) or "-",
        note,
    )


def _blockers(record: Record) -> str:
    return "\n".join(
        "%s/%s: %s" % (pod.get("namespace"), pod.get("name"), pod.get("message") or pod.get("reason"))
        for pod in record.get("blockers") or []
    )


def _escaped(text: str) -> str:
    return escape(_NOT_IN_XML.sub(" ", text))


def _quoted(text: Any) -> str:
    return quoteattr(_NOT_IN_XML.sub(" ", str(text)))
