"""What a terminal gets to see: names from tables, models and results never steer it, in any command."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from running import program

#: An escape sequence, one in a single byte, a bell, a return, and a mark that turns the direction of writing.
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202e\u2066\u200f\x7f"
#: What the program itself sends to a terminal: colours and bold, and what a progress bar needs.
OWN = re.compile(r"\x1b\[(0|1|3[0-7]|1;3[0-7]|3[0-7];1)m|\x1b\[(\d*[ABCDK]|2K|0?J)|\x1b\[\?25[hl]")


@dataclass(frozen=True)
class Terminal:
    """Runs the binary on a terminal of its own."""

    binary: Path
    folder: Path

    def shows(self, *args: str | Path, code: int | Sequence[int] = 0) -> str:
        """What comes out on the terminal, standard output and error alike."""
        leader, follower = pty.openpty()
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        environment |= {"TERM": "xterm-256color", "CLICOLOR_FORCE": "1"}
        with subprocess.Popen(
            [program(self.binary, args[0]), *args],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=follower,
            env=environment,
        ) as process:
            os.close(follower)
            seen = b""
            while True:
                if not select.select([leader], [], [], 120)[0]:
                    process.kill()
                    pytest.fail(f"{args} says nothing any more")
                try:
                    part = os.read(leader, 65536)
                except OSError:  # the other end is closed
                    break
                if not part:
                    break
                seen += part
            ended = process.wait()
        os.close(leader)
        text = seen.decode().replace("\r\n", "\n")  # the terminal's own line ends
        assert ended in ([code] if isinstance(code, int) else code), text
        return text


def steering(text: str) -> list[str]:
    """Characters that steer a terminal and are not the program's own."""
    return re.findall(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", OWN.sub("", text)
    )


@pytest.fixture(scope="module")
def terminal(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A table, a model and a front in which everything that has a name has a hostile one."""
    folder = tmp_path_factory.mktemp("hostile")
    draw = np.random.default_rng(0)
    people = 400
    age, income = draw.integers(18, 70, people), draw.normal(40, 12, people).round(1)
    job = draw.choice(["clerk", f"cook{HOSTILE}", "smith"], people)
    y = (income + 8 * (job == "clerk") + draw.normal(0, 4, people) > 44).astype(int)
    columns = {"income": income, f"age{HOSTILE}": age, f"job{HOSTILE}": job}
    table = pd.DataFrame({**columns, f"group{HOSTILE}": draw.choice(["a", f"b{HOSTILE}"], people)})
    table[f"loan{HOSTILE}"] = np.where(y == 1, f"yes{HOSTILE}", "no")
    table[f"empty{HOSTILE}"] = ""
    table.to_csv(folder / "people.csv", index=False, quoting=csv.QUOTE_ALL)
    features = pd.DataFrame(
        {"income": income, "age": age, **{f"job_{level}": (job == level) * 1 for level in sorted(set(job))}}
    )
    booster = lgb.train(
        {"objective": "binary", "verbose": -1, "num_leaves": 4, "min_data_in_leaf": 5, "seed": 1},
        lgb.Dataset(features.to_numpy(), y),
        6,
    )
    names = ["income", f"age{HOSTILE}", *(f"job{HOSTILE}_{level}" for level in sorted(set(job)))]
    text = booster.model_to_string().replace("\r", "")
    spelled = " ".join(name.replace(" ", "_").replace("\r", "") for name in names)
    text = re.sub(r"(?m)^feature_names=.*$", lambda _: f"feature_names={spelled}", text)
    (folder / "model.txt").write_bytes(text.encode())
    quoted = json.dumps
    config = [
        "[data]",
        f"label = {quoted('loan' + HOSTILE)}",
        f"desired = [{quoted('yes' + HOSTILE)}]",
        f"ignore = [{quoted('group' + HOSTILE)}]",
        "[model.columns]",
        *(f"{quoted(have)} = {quoted(want)}" for have, want in wanted(names, sorted(set(job)))),
        "[limits]",
        "max_depth = 2",
        "max_edits = 1",
        "min_leaf = 20",
    ]
    (folder / "sogar.toml").write_text("\n".join(config).replace("\x7f", "\\u007F") + "\n")
    at = Terminal(binary, folder)
    assert not steering(at.shows("solve", "people.csv", "-m", "model.txt", "-c", "sogar.toml", "-v"))
    return at


def wanted(names: list[str], levels: list[str]) -> list[tuple[str, str]]:
    """Which of the table's columns a column of the model is."""
    job = [f"job{HOSTILE}={level}" for level in levels]
    have = [name.replace(" ", "_").replace("\r", "") for name in names]
    return list(zip(have, ["income", f"age{HOSTILE}", *job], strict=True))


#: A model's command that fails with hostile words on its standard error.
SPEAKS = """sh -c 'printf "\\033]0;owned\\007\\033[2J\\302\\2332J" >&2; exit 1'"""
SOLVE = ("people.csv", "-m", "model.txt", "-c", "sogar.toml")


@pytest.mark.parametrize(
    "args",
    [
        ("show", "front.json"),
        ("show", "front.json", "--format", "rules"),
        ("show", "front.json", "--format", "dot"),
        ("show", "front.json", "--json"),
        ("select", "front.json"),
        ("select", "front.json", "--by", f"gap(invalidity, group{HOSTILE})<=2"),
        ("audit", "front.json", "--group", f"group{HOSTILE}"),
        ("audit", "front.json", "--group", f"group{HOSTILE}", "--json"),
        ("explain", "front.json", "--row", "1"),
        ("explain", "front.json", "--row", "1", "--json"),
        ("evaluate", "front.json", "--holdout", "people.csv"),
        ("diff", "front.json", "front.json", "--group", f"group{HOSTILE}"),
        ("compare", *SOLVE, "--methods", "sogar,glance", "--describe"),
        ("predict", *SOLVE),
        ("predict", *SOLVE, "--json"),
        ("model", "inspect", "model.txt"),
        ("model", "inspect", "model.txt", "--json"),
        ("config", "init", "people.csv"),
        ("config", "check", "sogar.toml", "--table", "people.csv"),
        ("check", "front.json"),
        ("report", "front.json", "-o", f"report{HOSTILE}.html"),
        ("plot", "tree", "front.json"),
        ("plot", "front", "front.json", "--title", HOSTILE),
        ("problem", "export", *SOLVE, "-o", f"problem{HOSTILE}.npz"),
    ],
    ids=lambda args: " ".join(args).encode("ascii", "ignore").decode("ascii").replace("\x1b", "")[:40],
)
def test_results_steer_nothing(terminal: Terminal, args: tuple[str, ...]) -> None:
    """Whatever a command prints of names and values is spelled out."""
    code = (0, 3) if args[0] == "compare" else 0
    text = terminal.shows(*args, code=code)
    assert text.strip()
    assert not steering(text), text


@pytest.mark.parametrize(
    "args",
    [
        ("solve", f"{HOSTILE}.csv", "-m", "model.txt"),
        ("solve", "people.csv", "-m", f"{HOSTILE}.txt"),
        ("solve", *SOLVE, "--label", HOSTILE),
        ("solve", *SOLVE, "--ignore", HOSTILE),
        ("solve", *SOLVE, "--desired", HOSTILE),
        ("solve", *SOLVE, "--immutable", HOSTILE),
        ("solve", *SOLVE, "--immutable", f"job{HOSTILE}", "--immutable", f"age{HOSTILE}x"),
        ("solve", *SOLVE, f"--{HOSTILE}"),
        ("solve", *SOLVE, "-o", f"{HOSTILE}/front.json"),
        ("solve", "people.csv", "-c", "sogar.toml", "--model-command", SPEAKS),
        (HOSTILE,),
        ("select", "front.json", "--by", HOSTILE),
        ("audit", "front.json", "--group", HOSTILE),
        ("show", f"{HOSTILE}.json"),
        ("config", "presets", HOSTILE),
        ("schema", HOSTILE),
    ],
    ids=range(16),
)
def test_errors_steer_nothing(terminal: Terminal, args: tuple[str, ...]) -> None:
    """Errors repeat what was given, and spell it out."""
    text = terminal.shows(*args, code=2)
    assert "error" in text
    assert not steering(text), text


def test_a_forged_result_steers_nothing(terminal: Terminal) -> None:
    """Every string of a result that users may have written."""
    front = json.loads((terminal.folder / "front.json").read_text())
    for action in front["actions"]:
        action["text"] += HOSTILE + "\nerror: a line of its own"
    front["run"]["table_path"] = front["run"]["model_path"] = HOSTILE
    front["run"]["version"] = HOSTILE
    front["model"]["description"] += HOSTILE
    (terminal.folder / "forged.json").write_text(json.dumps(front))
    for command, code in (("show", 0), ("select", 0), ("audit", 2), ("check", 2), ("explain", 2)):
        more = {"audit": ["--group", "x"], "explain": ["--row", "1"]}.get(command, [])
        text = terminal.shows(command, "forged.json", *more, code=code)
        assert not steering(text), text
        assert "\nerror: a line" not in text
    text = terminal.shows("diff", "forged.json", "front.json")
    assert not steering(text), text


def test_a_pipe_gets_no_marks_of_direction(terminal: Terminal) -> None:
    """Where nothing is a terminal, text is the same without styles."""
    run = subprocess.run(
        [terminal.binary, "show", "front.json"], cwd=terminal.folder, capture_output=True, check=True
    )
    assert not steering(run.stdout.decode()), run.stdout
    assert b"\x1b" not in run.stdout


def test_own_styles_survive(terminal: Terminal) -> None:
    """Headings are bold and errors are red on a terminal."""
    assert "\x1b[1m" in terminal.shows("show", "front.json")
    assert re.search("\x1b\\[(1|31)m.*error:", terminal.shows("show", "nothing.json", code=2))


@pytest.mark.skipif(sys.platform != "linux", reason="devices of Linux")
@pytest.mark.parametrize("path", ["/dev/zero", "pipe", "/dev/tty"])
def test_a_result_chooses_no_pipe_and_no_device(terminal: Terminal, path: str) -> None:
    """Tables and models that a result names are regular files."""
    if path == "pipe" and not (terminal.folder / path).exists():
        os.mkfifo(terminal.folder / path)
    for key in ("table_path", "model_path"):
        front = json.loads((terminal.folder / "front.json").read_text())
        front["run"][key] = path
        (terminal.folder / "chosen.json").write_text(json.dumps(front))
        for command in (["check"], ["audit", "--group", "income<=40"], ["explain", "--row", "1"]):
            text = terminal.shows(command[0], "chosen.json", *command[1:], code=2)
            assert "a regular file is wanted" in text, text
        text = terminal.shows("report", "chosen.json", "-o", "chosen.html")
        assert "a regular file is wanted" in text, text
