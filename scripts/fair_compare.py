"""Fairness inside the search against filtering the front of cost and loss, from result files.

    python scripts/fair_compare.py --sogar target/release/sogar front.json fair.json

`front.json` is a result of `sogar solve`, `fair.json` one with `--minimax GROUPS` (or `--max-gap`) of the
same problem. For some limits on the gap it prints, for both ways, the number of summaries, the lowest
invalidity, and the mean loss over all costs up to the most expensive summary. Then the mean gap over the
points of `front.json`, and the mean of the smallest gaps that cost no more and have so much more loss.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np

LIMITS = (0.01, 0.02, 0.05, 0.1)


def stairs(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The pairs of cost and loss that no other dominates."""
    kept: list[tuple[float, float]] = []
    for cost, loss in sorted(points):
        if not kept or loss < kept[-1][1]:
            kept.append((cost, loss))
    return kept


def mean_loss(steps: list[tuple[float, float]], end: float) -> float:
    """The mean over costs from 0 to `end` of the lowest loss within a cost."""
    ends = [cost for cost, _ in steps[1:]] + [end]
    return (
        sum(loss * max(0.0, min(after, end) - cost) for (cost, loss), after in zip(steps, ends, strict=True))
        / end
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sogar", default="sogar")
    parser.add_argument("front", type=Path)
    parser.add_argument("fair", type=Path)
    args = parser.parse_args()
    fair = json.loads(args.fair.read_text())
    found, groups = fair["fairness"], fair["fairness"]["groups"]
    sizes = [group["affected"] for group in groups]
    people, unit = sum(sizes), fair["cost"]["unit"]

    def gap(losses: list[int]) -> float:
        loss = sum(losses)
        distances = zip(losses, sizes, strict=True)
        return float(max(abs(own / size - (loss - own) / (people - size)) for own, size in distances))

    searched = [(v[0] / unit / people, sum(v[1:]) / people, gap(v[1:])) for v in found["front"]]
    command = [
        args.sogar,
        "audit",
        str(args.front),
        "--group",
        found["grouping"],
        "--draws",
        "0",
        "--unreachable",
        "no",
        "--json",
        "-q",
    ]
    audited = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    grouping = next(one for one in audited["reference"]["groupings"] if one["name"] == found["grouping"])
    gaps = [
        max(map(abs, at))
        for at in zip(*(g["measures"]["loss"]["gap"] for g in grouping["groups"]), strict=True)
    ]
    points = json.loads(args.front.read_text())["points"]
    filtered = [(p["cost"], p["loss"], g) for p, g in zip(points, gaps, strict=True)]
    end = max(cost for cost, _, _ in filtered)
    print(f"{len(filtered)} points, {len(searched)} vectors, by {found['grouping']}")
    print("limit | points f, s | lowest invalidity f, s, difference | mean loss f, s, difference")
    for limit in LIMITS:
        a, b = (
            stairs([(c, lost) for c, lost, g in way if g <= limit + 1e-12]) for way in (filtered, searched)
        )
        low = [min(cost + loss for cost, loss in way) for way in (a, b)]
        mean = [mean_loss(way, end) for way in (a, b)]
        print(
            f"{limit} | {len(a)}, {len(b)} | {low[0]:.4f}, {low[1]:.4f}, {low[1] - low[0]:+.4f} | "
            f"{mean[0]:.4f}, {mean[1]:.4f}, {mean[1] - mean[0]:+.4f}"
        )
    cost, loss, gap_of = np.array(searched).T
    for slack in (0.005, 0.01):
        near = 1e-12 + slack
        least = [gap_of[(cost <= c + 1e-12) & (loss <= lost + near)].min() for c, lost, _ in filtered]
        print(f"with at most {slack} more loss: mean gap {np.mean(gaps):.4f}, {np.mean(least):.4f}")


if __name__ == "__main__":
    main()
