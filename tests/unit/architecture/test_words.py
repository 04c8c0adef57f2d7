# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Words that do not come back: readers know kubectl's, client-go's and Ansible's, or the plainest verb.

Names, comments, docstrings, messages, YAML and Markdown are searched, also where a phrase is broken over two lines.
"""

from __future__ import annotations

import functools
import re

import pytest

from places import ROOT

FOLDERS = ("plugins", "roles", "playbooks", "docs")
SUFFIXES = {".py", ".md", ".yml", ".yaml", ".j2", ".sh", ".txt"}
# What to say instead, by the word as a regular expression. A blank in it may be the end of a line.
INSTEAD = {
    r"amiss": "invalid",
    r"anew": "again; start again",
    r"(?<!there )(?:is|are|was|were) no(?! longer| more| one| [a-z]+er than)": "is not a",
    r"tells? whether": "return whether; report whether",
    r"all the same": "anyway, still",
    r"(?:so|that) many seconds": "N seconds; the seconds of an option",
    r"for want of": "for lack of; because there was no",
    r"who(?:m)?ever": "the user, the caller, anyone who",
    r"(?:what|which|that) is none": "is not a",
    r"foretold|foretells?": "warned of; predicted",
    r"outlooks?": "preflight result; warning",
    r"rehears\w*": "dry run, check mode",
    r"(?:knows|counts) not": "does not know",
    r"keeps? book|kept book": "track, record",
    r"look too many": "an unnecessary check",
    r"nobody in particular": "anonymous",
    r"mended": "fixed, repaired",
    r"speaks? against": "blocks",
}


# The end of a line, with what surrounds it in comments, quoted paragraphs and texts that go on.
_LINE_BREAK = re.compile(r"""[ \t]*["']?[ \t]*\n[ \t]*(?:#+[ \t]*|>[ \t]*|[fr]?["'])?""")
_BLANKS = re.compile(r"[ \t]+")


@functools.cache
def texts() -> dict[str, str]:
    """Return the texts of all files with single blanks, by path; lines keep their numbers."""
    return {
        path.relative_to(ROOT).as_posix(): prepared(path.read_text(encoding="utf-8"))
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in SUFFIXES
    }


def prepared(text: str) -> str:
    return _BLANKS.sub(" ", _LINE_BREAK.sub("\n", text))


def found_in(text: str, word: str) -> list[tuple[int, str]]:
    """Return (line, words) for each place; names in snake case hold a word, too."""
    spaced = word.replace(" ", "[ _\n]")
    pattern = re.compile(f"(?<![a-z])(?:{spaced})(?![a-z])", re.IGNORECASE)
    return [(text.count("\n", 0, hit.start()) + 1, hit[0].replace("\n", " ")) for hit in pattern.finditer(text)]


@pytest.mark.parametrize("word", INSTEAD)
def test_a_word_does_not_come_back(word: str) -> None:
    found = [f"{path}:{line} {hit!r}" for path, text in texts().items() for line, hit in found_in(text, word)]
    assert found == [], "\n".join([f"say: {INSTEAD[word]}", *found])


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("Which is no failure.", ["is no"]),
        ("A pod that is\n    # no member.", ["is no"]),
        ("    # Tell\n    # whether it ended.", ["Tell whether"]),
        ('"It waits for so "\n    "many seconds."', ["so many seconds"]),
        ("made = rehearse_all(outlook)", ["outlook", "rehearse_all"]),
        ("It is no longer there, and there is no other; there\nare no more.", []),
        ("the Canewdon cluster, dismissed", []),
        ("`false` is `0`, `false` or `no`; x is none", []),
    ],
)
def test_the_words_are_found_and_no_others(text: str, hits: list[str]) -> None:
    assert sorted(hit for word in INSTEAD for _line, hit in found_in(prepared(text), word)) == hits
