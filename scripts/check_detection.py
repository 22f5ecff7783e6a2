"""How often `sogar check` finds a missing point without time for a proof.

Drops one random point of a complete front, with the splits and actions that no tree uses any more, and checks
the rest with a short time limit and another seed each time. docs/CHECK.md has the figures.

    python scripts/check_detection.py target/release/sogar front.json --time-limit 1 --trials 50
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any


def renumber(node: dict[str, Any], key: str, order: list[int]) -> None:
    """Numbers what a tree refers to in the order in which it is met."""
    if key in node:
        if node[key] not in order:
            order.append(node[key])
        node[key] = order.index(node[key])
    for side in ("left", "right"):
        if side in node:
            renumber(node[side], key, order)


def without(front: dict[str, Any], number: int) -> dict[str, Any]:
    """The front without a point."""
    front = json.loads(json.dumps(front))
    del front["points"][number]
    for names, key in (("splits", "split"), ("actions", "action")):
        order: list[int] = []
        for point in front["points"]:
            renumber(point["tree"], key, order)
        front[names] = [front[names][position] for position in order]
    return front


def main() -> None:
    """Drops points, one at a time, and counts what checks say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sogar", type=Path)
    parser.add_argument("front", type=Path)
    parser.add_argument("--time-limit", default="1")
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    front = json.loads(arguments.front.read_text())
    draw = random.Random(arguments.seed)
    told: Counter[str] = Counter()
    with tempfile.NamedTemporaryFile("w", suffix=".json", dir=arguments.front.parent) as file:
        for trial in range(arguments.trials):
            lacking = without(front, draw.randrange(1, len(front["points"])))
            Path(file.name).write_text(json.dumps(lacking))
            command = [arguments.sogar.resolve(), "check", file.name, "--json"]
            command += ["--time-limit", arguments.time_limit, "--seed", str(trial)]
            run = subprocess.run(
                command, capture_output=True, text=True, check=False, cwd=arguments.front.parent
            )
            said = json.loads(run.stdout)
            failed = [check["check"] for check in said["checks"] if not check["passed"]]
            told[f"found by {failed[0]}" if failed else f"missed ({said['completeness']})"] += 1
    print(f"{len(front['points'])} points, {arguments.trials} dropped, --time-limit {arguments.time_limit}")
    for verdict, count in told.most_common():
        print(f"  {count:4d}  {verdict}")


if __name__ == "__main__":
    main()
