"""Fingerprints of what the program computes: they show that a change of the code changes no result.

Solves the small fixture, the German example and every preset, then audits, reports, evaluates, explains and
compares the fronts. Each output becomes a SHA-256 of its JSON without the block ``run``, without paths, and
with every text blanked that has a space in it: a better sentence is not another result. ``RENAMED`` lists the
fields that were renamed since the fingerprints were recorded.

    python scripts/results.py --sogar target/release/sogar --paper target/paper            compare
    python scripts/results.py --sogar target/release/sogar --paper target/paper --write    record

``--deep`` solves presets at the depth of their own configuration (minutes in an optimised build) and keeps
fingerprints of its own. ``--paper`` has the tables and models that ``scripts/paper_models.py --folds 1``
writes; presets without them are skipped and named. Without ``--paper`` only the fixtures and the example are
solved, which takes seconds: the tests do that.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "tests" / "python" / "results.json"
FIXTURES = ROOT / "crates" / "sogar-cli" / "tests" / "fixtures"
GERMAN = ROOT / "examples" / "german"

# A field's name now, and when the fingerprints were recorded.
RENAMED: dict[str, str] = {}
# A result that does not say how numbers move means this.
ABSENT = ("numbers", "bins")
# Fields whose values differ from run to run, or from machine to machine.
VOLATILE = {
    "run",
    "date",
    "version",
    "report",
    "front_path",
    "seconds",
    "seconds_outcomes",
    "seconds_search",
    "leaf_sets",
}

# Preset, folder of its table and model, groups of the audit.
PRESETS = {
    "german": ("readable-german", "status_sex"),
    "attrition": ("readable-attrition", "Gender"),
    "bank": ("readable-bank", "marital"),
    "adult": ("readable-adult", "sex"),
    "paper-german": ("german", None),
    "paper-attrition": ("attrition", None),
    "paper-bank": ("bank", None),
    "paper-adult": ("adult", "sex"),
}


def plain(value: Any) -> Any:
    """A value without what may change: volatile fields, sentences, new names."""
    if isinstance(value, dict):
        kept = (
            (RENAMED.get(key, key), part)
            for key, part in value.items()
            if key not in VOLATILE and (key, part) != ABSENT
        )
        return {key: plain(part) for key, part in kept}
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, str) and re.search(r"\s", value):
        return "…"
    return value


def fingerprint(value: Any) -> str:
    """A hash of a JSON value."""
    text = json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Program:
    """The binary, run in a folder of its own."""

    def __init__(self, binary: Path, folder: Path) -> None:
        """Names the binary and the folder."""
        self.binary = binary
        self.folder = folder

    def run(self, *arguments: str | Path) -> str:
        """Runs a command that must succeed, and gives what it printed."""
        command = [str(self.binary), *map(str, arguments), "--quiet"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout

    def json(self, *arguments: str | Path) -> Any:
        """What a command prints as JSON."""
        return json.loads(self.run(*arguments, "--json"))

    def read(self, name: str) -> Any:
        """A JSON file of the folder."""
        return json.loads((self.folder / name).read_text())

    def report(self, *arguments: str | Path) -> Any:
        """The data inside a report page."""
        self.run("report", *arguments, "-o", "report.html")
        page = (self.folder / "report.html").read_text()
        found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
        if found is None:
            sys.exit("the report has no data")
        return json.loads(found.group(1))


def problem(
    program: Program, name: str, solve: list[str | Path], group: str | None, holdout: Path | None
) -> Iterator[tuple[str, str]]:
    """Everything that is made of one problem."""
    front = f"{name}.json"
    program.run("solve", *solve, "-o", front)
    yield f"{name}: front", fingerprint(program.read(front))
    groups = ["--group", group] if group else []
    if group:
        yield f"{name}: audit", fingerprint(program.json("audit", front, *groups, "--draws", "50"))
    yield f"{name}: report", fingerprint(program.report(front, *groups, "--draws", "50"))
    turned_down = next(iter(first_affected(program.read(front))))
    explained = program.json("explain", front, "--row", str(turned_down + 1))
    yield f"{name}: explain", fingerprint(explained)
    yield f"{name}: show", fingerprint(program.json("show", front))
    if holdout:
        yield f"{name}: evaluate", fingerprint(program.json("evaluate", front, "--holdout", holdout))


def first_affected(front: Any) -> Iterator[int]:
    """Rows that are turned down."""
    data = base64.b64decode(front["population"]["affected_rows"])
    for row in range(front["population"]["rows"]):
        if data[row // 8] >> (row % 8) & 1:
            yield row


def everything(binary: Path, paper: Path | None, deep: bool) -> Iterator[tuple[str, str]]:
    """All fingerprints, in order."""
    with tempfile.TemporaryDirectory() as folder:
        program = Program(binary.resolve(), Path(folder))
        small: list[str | Path] = [
            FIXTURES / "people.csv",
            "--model",
            FIXTURES / "model.txt",
            "--config",
            FIXTURES / "sogar.toml",
        ]
        yield from problem(program, "small", small, None, FIXTURES / "others.csv")
        german: list[str | Path] = [
            GERMAN / "german.csv",
            "--model",
            GERMAN / "model.txt",
            "--config",
            GERMAN / "sogar.toml",
        ]
        depth = [] if deep else ["--max-depth", "2"]
        yield from problem(program, "demo", [*german, *depth], "status_sex", None)
        costs = ["cet", "logshift", "l1"]
        for cost in costs:
            name = f"demo-{cost}"
            program.run("solve", *german, "--max-depth", "1", "--cost", cost, "-o", f"{name}.json")
            yield f"{name}: front", fingerprint(program.read(f"{name}.json"))
        yield "diff", fingerprint(program.json("diff", "demo-cet.json", "demo-l1.json"))
        if paper is None:
            return
        for preset, (source, group) in PRESETS.items():
            fold = paper / source / "fold1"
            if not (fold / "model.txt").exists():
                print(f"SKIPPED: preset {preset}: no model in {fold}", file=sys.stderr)
                continue
            # A debug build takes minutes for deeper trees of Adult.
            depth = [] if deep else ["--max-depth", "1" if "adult" in preset else "2"]
            solve: list[str | Path] = [
                fold / "train.csv",
                "--model",
                fold / "model.txt",
                "--preset",
                preset,
                *depth,
            ]
            yield from problem(program, preset, [*solve], group, fold / "test.csv")


def main() -> None:
    """Compares or records."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sogar", type=Path, required=True, help="the binary")
    parser.add_argument("--paper", type=Path, help="tables and models of the presets")
    parser.add_argument("--deep", action="store_true", help="presets at their own depth")
    parser.add_argument("--write", action="store_true", help="record instead of comparing")
    arguments = parser.parse_args()
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    part = "deep" if arguments.deep else "shallow"
    known: dict[str, str] = recorded.get(part, {})
    found = {}
    for name, value in everything(arguments.sogar, arguments.paper, arguments.deep):
        found[name] = value
        verdict = "recorded" if arguments.write else "same" if known.get(name) == value else "DIFFERS"
        print(f"{verdict:9} {name}", flush=True)
    if arguments.write:
        # What was not solved keeps its record: the presets, without --paper.
        kept = {**recorded, part: {**known, **found}}
        RECORDED.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        return
    differing = [name for name, value in found.items() if known.get(name) != value]
    if differing:
        sys.exit(
            f"{len(differing)} of {len(found)} results differ from the recorded ones: {', '.join(differing)}"
        )
    print(f"all {len(found)} results are the recorded ones")


if __name__ == "__main__":
    main()
