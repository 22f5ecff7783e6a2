"""Killed runs go on from their checkpoint and give the same bytes; damaged checkpoints are refused."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from running import GERMAN, ROOT

KILLS = 12
SETTINGS = ["--max-edits", "2", "--threads", "1"]

#: The example with many more actions.
WIDE = str(ROOT / "crates" / "sogar-cli" / "tests" / "fixtures" / "german.toml")


def command(binary: Path, out: Path, *options: str | Path) -> list[str]:
    """A run on the example, of a second or two."""
    words: list[str | Path] = [binary, "solve", GERMAN / "german.csv", "--model", GERMAN / "model.txt"]
    words += ["--config", GERMAN / "sogar.toml", "--quiet", "-o", out, *SETTINGS, *options]
    return [str(word) for word in words]


def result(out: Path) -> str:
    """All of a result that does not depend on when and where it was found."""
    front = json.loads(out.read_text(encoding="utf-8"))
    del front["run"]
    return json.dumps(front)


def run(words: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs to the end."""
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def plain(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, float]:
    """The result without a checkpoint, and the seconds that it took."""
    out = tmp_path_factory.mktemp("plain") / "front.json"
    start = time.perf_counter()
    subprocess.run(command(binary, out), check=True, stdout=subprocess.DEVNULL)
    return result(out), time.perf_counter() - start


def test_a_run_that_is_killed_goes_on_to_the_same_bytes(
    binary: Path, plain: tuple[str, float], tmp_path: Path
) -> None:
    """Kills at random times; after each the run is brought to its end from a copy of what was left."""
    expected, seconds = plain
    draw = random.Random(5)
    kept, out = tmp_path / "kept", tmp_path / "front.json"
    kills, went_on = 0, 0
    while kills < KILLS:
        running = subprocess.Popen(
            command(binary, out, "--checkpoint", kept), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            running.wait(draw.uniform(0.0, 0.9 * seconds))
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            running.wait()
            kills += 1
            went_on += any(kept.glob("search-*.kept"))
            copy = tmp_path / f"copy-{kills}"
            if kept.exists():
                shutil.copytree(kept, copy)
            resumed = run(command(binary, out, "--checkpoint", copy))
            assert resumed.returncode == 0, resumed.stderr
            assert result(out) == expected
            shutil.rmtree(copy)
        else:
            # It was quicker than the kill: from the beginning again.
            assert running.returncode == 0
            assert result(out) == expected
            shutil.rmtree(kept)
    assert went_on > KILLS / 4, "most kills came before anything was kept"


def test_a_finished_run_is_repeated_in_a_moment(
    binary: Path, plain: tuple[str, float], tmp_path: Path
) -> None:
    """Nothing is searched again, whatever the number of threads; what is kept stays."""
    kept, out = tmp_path / "kept", tmp_path / "front.json"
    for threads in ("1", "2"):
        words = command(binary, out, "--checkpoint", kept, "--time-limit", "600")
        words[words.index("--threads") + 1] = threads
        done = run(words)
        assert done.returncode == 0, done.stderr
        assert result(out) == plain[0]
    about = json.loads(out.read_text(encoding="utf-8"))["run"]
    assert about["leaf_sets"] == 1
    assert about["outcome_method"] == "kept from an earlier run"


Damage = Callable[[Path], object]


def flipped(path: Path, at: int) -> None:
    """Changes one bit."""
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def swapped(one: Path, other: Path) -> None:
    """Exchanges two files."""
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


DAMAGES: dict[str, tuple[Damage, str]] = {
    "cut short": (lambda kept: _cut(kept / "search-000000.kept"), "search-000000.kept"),
    "a bit": (lambda kept: flipped(kept / "search-000000.kept", 300), "search-000000.kept"),
    "a bit of the outcomes": (lambda kept: flipped(kept / "outcomes-000001.kept", -50), "outcomes-000001"),
    "the header": (lambda kept: flipped(kept / "outcomes-000000.kept", 40), "outcomes-000000.kept"),
    "the magic": (lambda kept: flipped(kept / "outcomes-000000.kept", 2), "outcomes-000000.kept"),
    "empty": (lambda kept: (kept / "search-000000.kept").write_bytes(b""), "search-000000.kept"),
    "swapped": (
        lambda kept: swapped(kept / "outcomes-000000.kept", kept / "outcomes-000001.kept"),
        "outcomes-000000.kept",
    ),
    "missing": (lambda kept: (kept / "outcomes-000000.kept").unlink(), "outcomes-000000.kept"),
    "a folder": (lambda kept: _foldered(kept / "outcomes-000000.kept"), "outcomes-000000.kept"),
    "no manifest": (lambda kept: (kept / "checkpoint.json").unlink(), "checkpoint.json"),
    "no JSON": (lambda kept: (kept / "checkpoint.json").write_text("]"), "checkpoint.json"),
    "a version": (lambda kept: _edited(kept, "sogar", "9.9.9"), "another version of sogar (9.9.9)"),
    "a run": (lambda kept: _edited(kept, "identity", "0" * 64), "belongs to another run"),
}


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def _foldered(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _edited(kept: Path, key: str, value: str) -> None:
    manifest = json.loads((kept / "checkpoint.json").read_text())
    (kept / "checkpoint.json").write_text(json.dumps({**manifest, key: value}))


@pytest.fixture(scope="module")
def finished(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of a finished run."""
    folder = tmp_path_factory.mktemp("finished")
    done = run(command(binary, folder / "front.json", "--checkpoint", folder / "kept"))
    assert done.returncode == 0, done.stderr
    return folder / "kept"


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_checkpoint_is_refused(binary: Path, finished: Path, tmp_path: Path, what: str) -> None:
    """The message names the file and what to do; nothing is written."""
    damage, expected = DAMAGES[what]
    kept, out = tmp_path / "kept", tmp_path / "front.json"
    shutil.copytree(finished, kept)
    damage(kept)
    refused = run(command(binary, out, "--checkpoint", kept))
    assert refused.returncode == 2
    assert expected in refused.stderr
    assert "delete the checkpoint's folder to begin anew" in refused.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    "flags", [["--max-depth", "2"], ["--min-leaf", "40"], ["--cost", "l1"], ["--seed", "4"]]
)
def test_the_checkpoint_of_another_run_is_refused(
    binary: Path, finished: Path, tmp_path: Path, flags: list[str]
) -> None:
    """Whatever could change the result."""
    refused = run(command(binary, tmp_path / "front.json", "--checkpoint", finished, *flags))
    assert refused.returncode == 2
    assert "belongs to another run" in refused.stderr


def test_a_limit_ends_keeping_but_not_the_run(binary: Path, tmp_path: Path) -> None:
    """A warning, and a complete result."""
    kept, out = tmp_path / "kept", tmp_path / "front.json"
    words = command(binary, out, "--checkpoint", kept, "--checkpoint-limit", "1MB", "--max-depth", "1")
    words[words.index("--config") + 1] = WIDE  # outcomes of some megabytes
    words[words.index("--max-edits") + 1] = "3"
    words.remove("--quiet")
    done = run(words)
    assert done.returncode == 0
    assert "the checkpoint has reached its limit of 1.0 MB" in done.stderr
    assert sum(path.stat().st_size for path in kept.glob("*.kept")) < 1_000_000
    assert json.loads(result(out))["status"] == "complete"
