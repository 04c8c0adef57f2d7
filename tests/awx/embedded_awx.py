# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""As much of AWX's API as the modules of awx.awx use: objects by name, associations, surveys, approval nodes."""

from __future__ import annotations

import json
import re
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from survey_rules import fault_of

Object = dict[str, Any]

TOKEN = "awx-person-token"
_PREFIX = "/api/v2/"
_ENCRYPTED = "$encrypted$"
# What the modules look up among unified_job_templates, by the type they name.
_UNIFIED = {"job_template": "job_templates", "project": "projects", "workflow_job_template": "workflow_job_templates"}


class EmbeddedAwx:
    """An AWX on a free port of 127.0.0.1 that ends with the `with` block.

    objects: endpoint -> its objects as the API shows them; associations: (endpoint, id, name) -> associated ids;
    changes: "METHOD path" of each request that changed something.
    """

    def __init__(self, **objects: list[str]) -> None:
        """Begin with objects of these names, by endpoint."""
        self.objects: dict[str, list[Object]] = defaultdict(list)
        self.associations: dict[tuple[str, int, str], list[int]] = defaultdict(list)
        self.surveys: dict[tuple[str, int], Object] = {}
        self.secrets: dict[int, Object] = {}
        self.changes: list[str] = []
        self._lock = threading.Lock()
        self._last_id = 0
        for endpoint, names in objects.items():
            for name in names:
                self._create(endpoint, {"name": name})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> EmbeddedAwx:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def named(self, endpoint: str, name: str) -> Object:
        """Return the one object of a name; ValueError when there is none, or more."""
        (found,) = [obj for obj in self.objects[endpoint] if obj.get("name", obj.get("identifier")) == name]
        return found

    def names_of(self, endpoint: str, obj: Object, association: str, of: str) -> list[str]:
        """Return the names of the objects of the endpoint `of` that are associated with an object."""
        ids = self.associations[endpoint, obj["id"], association]
        return sorted(other.get("name") or other["identifier"] for other in self.objects[of] if other["id"] in ids)

    def snapshot(self) -> str:
        """Return everything there is, as text to compare."""
        associations = {str(key): ids for key, ids in self.associations.items() if ids}
        surveys = {str(key): survey for key, survey in self.surveys.items()}
        there = {endpoint: objects for endpoint, objects in self.objects.items() if objects}
        return json.dumps([there, associations, surveys], indent=1, sort_keys=True)

    def answer(self, method: str, path: str, query: Object, body: Object) -> tuple[int, Any]:
        """Return status and body for a request; path is what follows /api/v2/, without slashes at its ends."""
        with self._lock:
            if method != "GET":
                self.changes.append(f"{method} {path}")
            parts = path.split("/")
            if len(parts) == 1:
                if method == "GET":
                    return 200, self._listed(self._matching(parts[0], query))
                return 201, self._create(parts[0], body)
            found = [obj for obj in self.objects[parts[0]] if str(obj["id"]) == parts[1]]
            if not found:
                return 404, {"detail": "Not found."}
            if len(parts) == 2:
                return 200, self._changed(parts[0], found[0], body) if method == "PATCH" else found[0]
            if parts[2] == "survey_spec":
                return self._survey(method, (parts[0], found[0]["id"]), body)
            if parts[2] == "create_approval_template":
                return 201, self._approval(found[0], body)
            return self._associate(method, (parts[0], found[0]["id"], parts[2]), body)

    def _matching(self, endpoint: str, query: Object) -> list[Object]:
        if endpoint == "unified_job_templates":
            endpoint = _UNIFIED.get(query.pop("type", ""), "")
        return [obj for obj in self.objects[endpoint] if all(str(obj.get(k, "")) == v for k, v in query.items())]

    @staticmethod
    def _listed(objects: list[Object]) -> Object:
        return {"count": len(objects), "next": None, "previous": None, "results": objects}

    def _create(self, endpoint: str, body: Object) -> Object:
        self._last_id += 1
        url = f"{_PREFIX}{endpoint}/{self._last_id}/"
        obj: Object = {"id": self._last_id, "url": url, "related": {}, "summary_fields": {}}
        obj["related"] = {name: f"{url}{name}/" for name in ("survey_spec", "update")}
        if endpoint == "projects":
            obj["scm_revision"] = ""
        self.objects[endpoint].append(obj)
        return self._changed(endpoint, obj, body)

    def _changed(self, endpoint: str, obj: Object, body: Object) -> Object:
        body = dict(body)
        if endpoint == "credentials" and "inputs" in body:
            self.secrets[obj["id"]] = body["inputs"]
            body["inputs"] = {
                key: _ENCRYPTED if key in ("bearer_token", "kubeconfig") else value
                for key, value in body["inputs"].items()
            }
        if endpoint == "workflow_approval_templates":
            body = {key: value for key, value in body.items() if key in ("name", "description", "timeout")}
        obj.update(body)
        return obj

    def _survey(self, method: str, key: tuple[str, int], body: Object) -> tuple[int, Any]:
        if method == "GET":
            return 200, self.surveys.get(key, {})
        if method == "DELETE":
            self.surveys.pop(key, None)
            return 200, {}
        fault = fault_of(body)
        if fault:
            return 400, {"error": fault}
        self.surveys[key] = body
        return 200, {}

    def _approval(self, node: Object, body: Object) -> Object:
        made = self._create("workflow_approval_templates", body)
        node["unified_job_template"] = made["id"]
        node["related"]["unified_job_template"] = made["url"]
        return made

    def _associate(self, method: str, key: tuple[str, int, str], body: Object) -> tuple[int, Any]:
        ids = self.associations[key]
        if method == "GET":
            return 200, self._listed([{"id": number} for number in ids])
        if body.get("disassociate"):
            ids.remove(body["id"])
        else:
            ids.append(body["id"])
        return 204, None


def _handler(awx: EmbeddedAwx) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                self._send(401, {"detail": "Authentication credentials were not provided."})
                return
            path = re.sub(f"^{_PREFIX}", "", parts.path).strip("/")
            self._send(*awx.answer(self.command, path, dict(parse_qsl(parts.query)), body))

        def _send(self, status: int, body: Any) -> None:
            data = b"" if body is None else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("X-API-Product-Name", "AWX")
            self.send_header("X-API-Product-Version", "24.6.1")
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = _serve

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    return Handler
