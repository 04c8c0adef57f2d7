# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubeconfig files: merging, paths in them, contexts, and every way to be unusable."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidConfiguration
from connection.situations import kubeconfig, write


def refusal(connected, **params) -> str:
    """Return the sentence with which connecting fails."""
    with pytest.raises(InvalidConfiguration) as caught:
        connected(**params)
    return caught.value.message


class TestMerging:
    """As kubectl merges the files of KUBECONFIG."""

    @pytest.fixture
    def parts(self, tmp_path: Path, api, pki) -> list[str]:
        """Return two files in different folders: user and cluster in one, the context in the other."""
        whole = kubeconfig(api.url, {"tokenFile": "tok"}, certificate_authority="ca.crt")
        context = {key: whole.pop(key) for key in ("contexts", "current-context")}
        (tmp_path / "a").mkdir()
        (tmp_path / "a/ca.crt").write_bytes(pki.ca.pem)
        (tmp_path / "a/tok").write_text("beside-a")
        return [write(tmp_path / "a/config", whole), write(tmp_path / "b/config", context)]

    def test_context_and_user_in_different_files(self, monkeypatch, seen, parts) -> None:
        monkeypatch.setenv("KUBECONFIG", os.pathsep.join([parts[1], "/does/not/exist", "", parts[0]]))
        assert seen().header("authorization") == "Bearer beside-a"

    def test_option_takes_several_paths(self, seen, parts) -> None:
        assert seen(kubeconfig=os.pathsep.join(parts)).header("authorization") == "Bearer beside-a"

    def test_option_takes_a_list_of_paths(self, seen, parts) -> None:
        assert seen(kubeconfig=parts).header("authorization") == "Bearer beside-a"

    def test_first_definition_wins(self, seen, parts, tmp_path, api, ca_file) -> None:
        later = write(tmp_path / "c", kubeconfig(api.url, {"token": "later"}, certificate_authority=ca_file))
        assert seen(kubeconfig=os.pathsep.join([*parts, later])).header("authorization") == "Bearer beside-a"

    def test_first_current_context_wins(self, connected, tmp_path) -> None:
        first = write(tmp_path / "first", {"current-context": "ctx"})
        document = kubeconfig("https://one.test")
        document["current-context"] = "other"
        second = write(tmp_path / "second", document)
        assert connected(kubeconfig=f"{first}{os.pathsep}{second}").base_url == "https://one.test:443"

    def test_empty_file_among_others_is_passed_over(self, seen, parts, tmp_path) -> None:
        empty = write(tmp_path / "empty", "")
        assert seen(kubeconfig=os.pathsep.join([empty, *parts])).header("authorization") == "Bearer beside-a"

    def test_all_missing(self, connected, monkeypatch) -> None:
        monkeypatch.setenv("KUBECONFIG", "/no/a:/no/b")
        assert refusal(connected) == (
            "The kubeconfig /no/a:/no/b (environment variable KUBECONFIG) does not exist:"
            " give the path of one that does."
        )


class TestPaths:
    """Relative paths belong to the file that holds them."""

    @pytest.fixture(autouse=True)
    def elsewhere(self, monkeypatch, tmp_path) -> None:
        (tmp_path / "cwd").mkdir()
        monkeypatch.chdir(tmp_path / "cwd")

    def test_certificates_beside_the_kubeconfig(self, seen, api, pki, tmp_path) -> None:
        folder = tmp_path / "kube"
        folder.mkdir()
        (folder / "ca.crt").write_bytes(pki.ca.pem)
        pki.alice.write(folder, "alice")
        user = {"client-certificate": "alice.crt", "client-key": "./alice.key"}
        config = write(folder / "config", kubeconfig(api.url, user, certificate_authority="ca.crt"))
        assert seen(kubeconfig=config).client == "alice"

    def test_kubeconfig_given_by_a_relative_path(self, seen, api, pki, tmp_path) -> None:
        (tmp_path / "cwd/ca.crt").write_bytes(pki.ca.pem)
        write(tmp_path / "cwd/config", kubeconfig(api.url, {"token": "t"}, certificate_authority="ca.crt"))
        assert seen(kubeconfig="config").header("authorization") == "Bearer t"

    def test_kubeconfig_in_the_home_folder(self, seen, api, ca_file, tmp_path) -> None:
        write(tmp_path / "home/mine", kubeconfig(api.url, {"token": "t"}, certificate_authority=ca_file))
        assert seen(kubeconfig="~/mine").header("authorization") == "Bearer t"

    def test_kubeconfig_reached_by_a_link(self, seen, api, pki, tmp_path) -> None:
        # As kubectl: the folder of the link counts, not that of its target.
        target = write(tmp_path / "real/config", kubeconfig(api.url, {"token": "t"}, certificate_authority="ca.crt"))
        (tmp_path / "linked").mkdir()
        (tmp_path / "linked/config").symlink_to(target)
        (tmp_path / "linked/ca.crt").write_bytes(pki.ca.pem)
        assert seen(kubeconfig=str(tmp_path / "linked/config")).header("authorization") == "Bearer t"


class TestContexts:
    """Which context is meant, and what it joins."""

    def test_context_by_name(self, connected) -> None:
        document = kubeconfig("https://one.test")
        document["clusters"].append({"name": "two", "cluster": {"server": "https://two.test"}})
        document["contexts"].append({"name": "second", "context": {"cluster": "two", "user": "me"}})
        assert connected(kubeconfig=document, context="second").base_url == "https://two.test:443"

    def test_context_without_user_is_anonymous(self, connected) -> None:
        document = kubeconfig("https://one.test")
        del document["contexts"][0]["context"]["user"]
        assert "Authorization" not in connected(kubeconfig=document).headers()

    def test_numbers_as_names_and_tokens(self, connected) -> None:
        document = kubeconfig("https://one.test", {"token": 12345})
        document["contexts"][0]["name"] = 7
        document["current-context"] = 7
        assert connected(kubeconfig=document).headers()["Authorization"] == "Bearer 12345"

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            (
                {"current-context": ""},
                "In {} no context is current: name one with context: it holds the contexts 'ctx'.",
            ),
            (
                {"current-context": "gone"},
                "There is no context 'gone' in {}, its current-context: it holds the contexts 'ctx'.",
            ),
            ({"contexts": None}, "There is no context 'ctx' in {}, its current-context: it holds no contexts."),
            (
                {"users": []},
                "The context 'ctx' in {} uses the user 'me', which is not defined there: it holds no users.",
            ),
            (
                {"clusters": [{"name": "hare", "cluster": {}}]},
                "The context 'ctx' in {} uses the cluster 'here', which is not defined there: did you mean 'hare'.",
            ),
            ({"clusters": [{"name": "here"}]}, "The cluster 'here' in {} has no server: add its address."),
            (
                {"contexts": [{"name": "ctx", "context": None}]},
                "The context 'ctx' in {} names no cluster: add one.",
            ),
        ],
    )
    def test_incomplete(self, connected, tmp_path, change, sentence) -> None:
        path = write(tmp_path / "config", {**kubeconfig("https://one.test"), **change})
        assert refusal(connected, kubeconfig=path) == sentence.format("kubeconfig " + path)

    def test_unknown_context_suggests_a_near_one(self, connected, tmp_path) -> None:
        path = write(tmp_path / "config", {**kubeconfig("https://one.test")})
        assert refusal(connected, kubeconfig=path, context="ctxt") == (
            f"There is no context 'ctxt' (option context) in kubeconfig {path}: did you mean 'ctx'."
        )


class TestUnusableFiles:
    """One sentence each, and never a word of the content."""

    def test_missing(self, connected) -> None:
        assert refusal(connected, kubeconfig="/no/such") == (
            "The kubeconfig /no/such (option kubeconfig) does not exist: give the path of one that does."
        )

    @pytest.mark.parametrize("text", ["", "---\n", "# nothing\n"])
    def test_empty(self, connected, tmp_path, text) -> None:
        path = write(tmp_path / "config", text)
        assert refusal(connected, kubeconfig=path) == (
            f"The kubeconfig {path} is empty: give one with clusters, users and contexts."
        )

    def test_not_yaml(self, connected, tmp_path) -> None:
        path = write(tmp_path / "config", "users:\n- token: 's3cret\n  x: [")
        message = refusal(connected, kubeconfig=path)
        assert message.startswith(f"The kubeconfig {path} is not valid YAML (line ")
        assert "s3cret" not in message

    def test_not_text(self, connected, tmp_path) -> None:
        path = tmp_path / "config"
        path.write_bytes(b"\xff\xfe\x00s3cret")
        message = refusal(connected, kubeconfig=str(path))
        assert message == f"The kubeconfig {path} is not valid YAML: correct it or give another."

    @pytest.mark.parametrize("text", ["- a\n", "just words", "42"])
    def test_no_mapping(self, connected, tmp_path, text) -> None:
        path = write(tmp_path / "config", text)
        assert refusal(connected, kubeconfig=path) == (
            f"The kubeconfig {path} is not a mapping of clusters, users and contexts: give the path of a kubeconfig."
        )

    def test_folder(self, connected, tmp_path) -> None:
        assert refusal(connected, kubeconfig=str(tmp_path)) == (
            f"The kubeconfig {tmp_path} cannot be read (Is a directory): give a file that the task's user may read."
        )

    def test_section_that_is_no_list(self, connected, tmp_path) -> None:
        path = write(tmp_path / "config", {"users": {"me": {"token": "s3cret"}}})
        assert refusal(connected, kubeconfig=path) == (
            f"In kubeconfig {path}, users is not a list of entries that have a name and a user: correct it."
        )

    def test_name_that_is_there_twice(self, connected, tmp_path) -> None:
        document = kubeconfig("https://one.test")
        document["users"] *= 2
        path = write(tmp_path / "config", document)
        assert refusal(connected, kubeconfig=path) == f"In kubeconfig {path}, users holds 'me' twice: keep one of them."

    @pytest.mark.parametrize("text", ["apiVersion: v1\nusers: [{token: s3cret}]\n", '{"users": "s3cret"}', 42])
    def test_content_in_place_of_a_path(self, connected, text) -> None:
        assert refusal(connected, kubeconfig=text) == (
            "The value of option kubeconfig is neither a path nor a dictionary: give the path of a kubeconfig,"
            " or its content through the filter from_yaml."
        )

    def test_missing_certificate_file(self, connected, tmp_path) -> None:
        path = write(tmp_path / "config", kubeconfig("https://one.test", certificate_authority="no.crt"))
        assert refusal(connected, kubeconfig=path) == (
            f"The file of certificate-authority of cluster 'here' in kubeconfig {path} cannot be read:"
            f" {tmp_path}/no.crt (No such file or directory); paths are those of the host that the task runs on."
        )

    @pytest.mark.parametrize(
        ("user", "cluster", "field"),
        [
            ({}, {"certificate_authority_data": "%%%"}, "certificate-authority-data of cluster 'here'"),
            ({"client-certificate-data": "abc"}, {}, "client-certificate-data of user 'me'"),
            ({"client-key-data": "s3cret!"}, {}, "client-key-data of user 'me'"),
        ],
    )
    def test_bad_base64(self, connected, user, cluster, field) -> None:
        message = refusal(connected, kubeconfig=kubeconfig("https://one.test", user, **cluster))
        assert message == f"The value of {field} in the kubeconfig dictionary is not valid base64: copy it again."

    def test_base64_in_several_lines(self, seen, api, pki) -> None:
        data = base64.encodebytes(pki.ca.pem).decode()
        assert seen(kubeconfig=kubeconfig(api.url, certificate_authority_data=data)).path == "/version"

    @pytest.mark.parametrize(
        "user",
        [{"token": "t", "username": "u", "password": "p"}, {"tokenFile": "/tok", "username": "u", "password": "p"}],
    )
    def test_two_credentials(self, connected, user) -> None:
        assert refusal(connected, kubeconfig=kubeconfig("https://one.test", user)) == (
            "The user 'me' in the kubeconfig dictionary has both a token and a user name or password: keep one of them."
        )
