# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Set the embedded cluster up, let things go wrong in it, and look at it: the task `kubesim` of the targets.

It works in Ansible's own process and starts no module, so a target can look as often as it likes. Its options are
carried out in this order, all of them optional:

    await      a pattern: wait until the log has a request "METHOD path" that matches it
    reset      true: an empty cluster, no faults, an empty log
    settled    objects that come to rest together first: workloads get their pods, on the nodes that are among them
    load       objects to load as they are
    access     users, as the control interface wants them
    call       [{method, path, body, content_type}]: requests as administrator
    faults     [...]: see kubesim/faults.py
    control    [{path, body}]: anything else of the control interface, such as an outage
    forget     true: clear the log, after it was read for the result

An object is {builder: {options}} with a function of kubesim.builders and its options; `pods_on: [node...]` beside it
puts one running pod of a workload on each of these nodes.

The result tells what there is then:

    nodes      name: {unschedulable, annotations, labels}
    pods       node: [names]; pods that are not on a node stand under ""
    requests   the log, without the requests of this task
    changes    ["PATCH /api/v1/nodes/w1"...]: what of it was meant to change something
    evictions  [pod...], in the order of the requests; a pod that was asked for twice stands there twice
    violations what disruption budgets had to suffer
    fired      how often each fault was met, in the order they were set
"""

from __future__ import annotations

import inspect
import json
import re
import ssl
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

SELF = "kubesim action"  # user agent, to tell our own requests from those of the modules under test
PATIENCE = 30.0  # seconds for what should come soon
TOKEN = "admintoken"  # the simulator's default; it guards nothing


class Server:
    """The running cluster, spoken to as its administrator."""

    def __init__(self, url: str) -> None:
        self._url = url
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )

    def ask(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        """Return the answer to a request, after an outage if there is one; HTTPError when it is a refusal."""
        headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": content_type, "User-Agent": SELF}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, headers, method=method)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                with self._opener.open(request, timeout=PATIENCE) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError:
                raise
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def control(self, path: str, body: Any, method: str = "POST") -> Any:
        """Use the control interface."""
        return self.ask(method, "/kubesim/" + path, body)


def built(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the objects that entries of `settled` and `load` stand for."""
    from kubesim import builders
    from kubesim.builders import pods as pod_builders

    known = set(inspect.signature(pod_builders.pod_spec).parameters) | {"finalizers"}
    objects: list[dict[str, Any]] = []
    for entry in entries:
        if "kind" in entry:
            objects.append(entry)
            continue
        entry = dict(entry)
        nodes = entry.pop("pods_on", [])
        ((builder, options),) = entry.items()
        pod_options = {key: value for key, value in options.items() if nodes and key in known}
        owner_options = {key: value for key, value in options.items() if not nodes or key != "finalizers"}
        made = getattr(builders, builder)(**owner_options)
        objects += [made, *(builders.pods_of(made, nodes, **pod_options) if nodes else [])]
    return objects


def wait_for_request(server: Server, pattern: str) -> None:
    """Return when a request that matches has come; TimeoutError when none does."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if any(re.search(pattern, f"{r['method']} {r['path']}") for r in server.control("requests", None, "GET")):
            return
        time.sleep(0.05)
    raise TimeoutError(f"no request {pattern} within {PATIENCE:g} s")


def is_rehearsal(request: dict[str, Any]) -> bool:
    """Tell whether a request was sent as a server-side dry run."""
    return "dryRun" in request["query"] or '"dryRun"' in request["body"]


def seen(server: Server) -> dict[str, Any]:
    """Return what there is now; the docstring of this file says how."""
    log = [request for request in server.control("requests", None, "GET") if request["user_agent"] != SELF]
    changes = [r for r in log if r["method"] != "GET" and "accessreview" not in r["path"] and not is_rehearsal(r)]
    found: dict[str, Any] = {
        "requests": log,
        "changes": [f"{request['method']} {request['path']}" for request in changes],
        "evictions": [r["path"].split("/")[-2] for r in changes if r["path"].endswith("/eviction")],
        "violations": server.control("violations", None, "GET"),
        "fired": [fault["fired"] for fault in server.control("faults", None, "GET")],
        "nodes": {},
        "pods": {},
    }
    for node in server.ask("GET", "/api/v1/nodes")["items"]:
        name = node["metadata"]["name"]
        found["pods"][name] = []
        found["nodes"][name] = {
            "unschedulable": bool(node.get("spec", {}).get("unschedulable")),
            "annotations": node["metadata"].get("annotations") or {},
            "labels": node["metadata"].get("labels") or {},
        }
    for pod in server.ask("GET", "/api/v1/pods")["items"]:
        found["pods"].setdefault(pod.get("spec", {}).get("nodeName") or "", []).append(pod["metadata"]["name"])
    return found


class ActionModule(ActionBase):
    """The task `kubesim`."""

    _supports_check_mode = True

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        sys.path.insert(0, str(Path(task_vars["kubeops_tests"])))
        server = Server(task_vars["setup_kubesim_url"])
        wanted = dict(self._task.args)
        forget, pattern = wanted.pop("forget", False), wanted.pop("await", "")
        if pattern:
            wait_for_request(server, pattern)
        self._prepare(server, wanted)
        result.update(seen(server), changed=False)
        if forget:
            server.control("requests", None, "DELETE")
        return result

    @staticmethod
    def _prepare(server: Server, wanted: dict[str, Any]) -> None:
        from kubesim.scenarios import settled

        if wanted.pop("reset", False):
            server.control("reset", {})
        objects = settled(built(wanted.pop("settled"))) if "settled" in wanted else []
        objects += built(wanted.pop("load", []))
        if objects:
            server.control("load", {"objects": objects})
        if "access" in wanted:
            server.control("access", wanted.pop("access"))
        for call in wanted.pop("call", []):
            server.ask(**call)
        if "faults" in wanted:
            server.control("faults", {"faults": wanted.pop("faults")})
        for control in wanted.pop("control", []):
            server.control(**control)
        if wanted:
            raise ValueError(f"unknown options of kubesim: {', '.join(sorted(wanted))}")
