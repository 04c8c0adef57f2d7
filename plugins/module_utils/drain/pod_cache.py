# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep a node's pods in their latest version, although lists and watch events may arrive out of order."""

from __future__ import annotations

from typing import NamedTuple

from ..api.list_watch import Changed, Listed
from ..objects import Obj, age_of, identity_of, name_of, version_of


class ListToken(NamedTuple):
    """What the cache knew when a list was requested; comes back with the list."""

    epoch: int  # how often resourceVersions were reset
    newest: int  # the greatest resourceVersion


class PodCache:
    """What is on a node: C(pods) by identity."""

    def __init__(self) -> None:
        self.pods: dict[str, Obj] = {}
        self._as_of = 0  # resourceVersion of the last list
        self._newest = 0  # the greatest resourceVersion of all lists and events
        self._epoch = 0  # how often resourceVersions were reset
        self._watch_token: ListToken | None = None  # of the first list of a watch that was just started
        # The version at which each pod left since the last list; one that only lost a label may come back later.
        self._left: dict[str, int] = {}

    @property
    def token(self) -> ListToken:
        """Return the token of a list that is requested now."""
        return ListToken(self._epoch, self._newest)

    def expect_watch(self) -> None:
        """Call before a watch is started, that is before its first list is requested."""
        self._watch_token = self.token

    def apply_list(self, listed: Listed, token: ListToken | None = None) -> bool:
        """Apply a list, return whether it is not outdated. token: of a list outside the watch.

        A list that was requested after another one had come is no older than that, unless resourceVersions were reset,
        as when etcd is restored from a backup: https://kubernetes.io/docs/tasks/administer-cluster/configure-upgrade-etcd/
        """
        as_of = age_of(listed.version)
        if token is None:
            token, self._watch_token = self._watch_token, None
        elif token.epoch != self._epoch:
            return False
        if listed.versions_reset or (token is not None and token.epoch == self._epoch and 0 < as_of < token.newest):
            self._epoch, self._as_of, self._newest, self.pods = self._epoch + 1, 0, 0, {}
            self._left.clear()
        if 0 < as_of < self._as_of:
            # It was long in flight, and the cache is newer.
            return False
        pods = {identity_of(pod): pod for pod in listed.items if name_of(pod)}
        if as_of:
            # Watch events since that version stay valid.
            pods.update((key, pod) for key, pod in self.pods.items() if age_of(version_of(pod)) > as_of)
        self.pods = {key: pod for key, pod in pods.items() if not self._has_left(key, pod, as_of)}
        self._as_of, self._newest = as_of, max(as_of, self._newest)
        # What the list shows is there, and of what it does not show nothing older counts any more.
        self._left = {key: left_at for key, left_at in self._left.items() if left_at > as_of}
        return True

    def apply_event(self, event: Changed) -> bool:
        """Apply a watch event, return whether it is newer than the cache."""
        key = identity_of(event.obj)
        if not name_of(event.obj):
            # Not a pod of this node.
            return False
        version = age_of(version_of(event.obj))
        if event.type == "DELETED":
            self._left[key], self._newest = version, max(version, self._newest)
            self.pods.pop(key, None)
            return True
        if self._has_left(key, event.obj, 0) or 0 < version <= self._as_of:
            return False
        self.pods[key], self._newest = event.obj, max(version, self._newest)
        return True

    def keep(self, pod: Obj) -> None:
        """Add a pod that no list and no watch shows."""
        self.pods[identity_of(pod)] = pod

    def _has_left(self, key: str, pod: Obj, as_of: int) -> bool:
        """Return whether this version of a pod is older than its end, or than its loss of a label that selected it.

        as_of: the version of a list that shows it, 0 for an event.
        """
        left_at = self._left.get(key)
        return left_at is not None and not 0 < left_at < max(as_of, age_of(version_of(pod)))
