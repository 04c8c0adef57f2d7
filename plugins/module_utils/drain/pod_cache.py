# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep a node's pods in their latest state, although lists and watch events may arrive out of order."""

from __future__ import annotations

from typing import NamedTuple

from ..api.list_watch import Changed, Listed
from ..objects import Obj, age_of, identity_of, name_of, version_of


class ListToken(NamedTuple):
    """What was known when a list was asked for. epoch: how often versions began anew; newest: the greatest one."""

    epoch: int
    newest: int


class PodCache:
    """What is on a node: C(pods) by identity."""

    def __init__(self) -> None:
        self.pods: dict[str, Obj] = {}
        # The version of the last list, and the greatest one that was heard of.
        self._as_of = 0
        self._newest = 0
        self._epoch = 0
        self._begun: ListToken | None = None
        # The version at which each pod left since the last list; one that only lost a label may come back later.
        self._left: dict[str, int] = {}

    @property
    def mark(self) -> ListToken:
        """Return what is to be known of a list that is asked for now."""
        return ListToken(self._epoch, self._newest)

    def begin(self) -> None:
        """Note that a watch of its own begins now, whose first list is asked for hereafter."""
        self._begun = self.mark

    def take_list(self, news: Listed, mark: ListToken | None = None) -> bool:
        """Take in a list and tell whether it counts. mark: that of the moment when it was asked for, if known.

        A list that was asked for after another one had come is no older than that, unless the versions began anew, as
        they do when etcd is restored from a backup: https://kubernetes.io/docs/tasks/administer-cluster/configure-upgrade-etcd/
        """
        as_of = age_of(news.version)
        if mark is None:
            mark, self._begun = self._begun, None
        elif mark.epoch != self._epoch:
            return False
        if news.versions_reset or (mark is not None and mark.epoch == self._epoch and 0 < as_of < mark.newest):
            self._epoch, self._as_of, self._newest, self.pods = self._epoch + 1, 0, 0, {}
            self._left.clear()
        if 0 < as_of < self._as_of:
            # It was long under way, and what is known is newer.
            return False
        listed = {identity_of(pod): pod for pod in news.items if name_of(pod)}
        if as_of:
            # What the watch has told since then stays true.
            listed.update((key, pod) for key, pod in self.pods.items() if age_of(version_of(pod)) > as_of)
        self.pods = {key: pod for key, pod in listed.items() if not self._has_left(key, pod, as_of)}
        self._as_of, self._newest = as_of, max(as_of, self._newest)
        # What the list shows is there, and of what it does not show nothing older will be believed.
        self._left = {key: left_at for key, left_at in self._left.items() if left_at > as_of}
        return True

    def take_change(self, news: Changed) -> bool:
        """Take in a change and tell whether it counts: whether it is newer than what is known."""
        key = identity_of(news.obj)
        if not name_of(news.obj):
            # No pod, or none of this node.
            return False
        version = age_of(version_of(news.obj))
        if news.type == "DELETED":
            self._left[key], self._newest = version, max(version, self._newest)
            self.pods.pop(key, None)
            return True
        if self._has_left(key, news.obj, 0) or 0 < version <= self._as_of:
            return False
        self.pods[key], self._newest = news.obj, max(version, self._newest)
        return True

    def keep(self, pod: Obj) -> None:
        """Hold a pod for present that no list and no watch shows."""
        self.pods[identity_of(pod)] = pod

    def _has_left(self, key: str, pod: Obj, as_of: int) -> bool:
        """Tell whether what is told of a pod is older than its end, or than its loss of a label that chose it.

        as_of: the version of a list that shows it, 0 for other news.
        """
        left_at = self._left.get(key)
        return left_at is not None and not 0 < left_at < max(as_of, age_of(version_of(pod)))
