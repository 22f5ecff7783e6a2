"""Draw the front of a result file as an SVG picture, with nothing but the standard library.

The picture in the README is that of the demo:

    make demo
    python scripts/readme_picture.py demo-out/front.json docs/front.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 30, 50, 60
INK, GREY, LINE, BEST = "#1f2933", "#9aa5b1", "#2b6cb0", "#c05621"


def text(x: float, y: float, words: str, colour: str = INK, anchor: str = "middle", size: int = 14) -> str:
    """A line of text."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}" font-size="{size}">{words}</text>'


def picture(front: dict[str, Any]) -> str:
    """The front as a staircase: mean cost to the right, share of people with recourse upwards."""
    points = [(point["cost"], 1 - point["loss"]) for point in front["points"]]
    best = min(range(len(points)), key=lambda i: front["points"][i]["invalidity"])
    most = max(0.1, -(-points[-1][0] // 0.1) * 0.1)

    def place(cost: float, share: float) -> tuple[float, float]:
        across, up = cost / most, share
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    parts = []
    for tenth in range(0, 11, 2):
        (x, y), (end, _) = place(0, tenth / 10), place(most, 0)
        parts.append(f'<path d="M{x:.1f} {y:.1f}H{end:.1f}" stroke="{GREY}" stroke-width="0.5"/>')
        parts.append(text(x - 8, y + 5, f"{10 * tenth} %", anchor="end"))
    for tenth in range(round(most * 10) + 1):
        x, y = place(tenth / 10, 0)
        parts.append(text(x, y + 20, f"{tenth / 10:.1f}"))
    stairs = [f"M{place(*points[0])[0]:.1f} {place(*points[0])[1]:.1f}"]
    for cost, share in points[1:]:
        x, y = place(cost, share)
        stairs.append(f"H{x:.1f}V{y:.1f}")
    parts.append(f'<path d="{"".join(stairs)}" fill="none" stroke="{LINE}" stroke-width="1.5"/>')
    for cost, share in points:
        x, y = place(cost, share)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="{LINE}"/>')
    x, y = place(*points[best])
    cost, share = points[best]
    parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{BEST}"/>')
    parts.append(text(x + 12, y + 28, "lowest invalidity:", BEST, "start"))
    parts.append(text(x + 12, y + 46, f"works for {100 * share:.1f} % at {cost:.3f}", BEST, "start"))
    parts.append(text(LEFT, 28, f"{len(points)} summaries, none of them dominated", anchor="start", size=16))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "mean cost of the recommended changes"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    upwards = text(0, 0, "people for whom they work")
    parts.append(f'<g transform="translate(18 {middle:.1f}) rotate(-90)">{upwards}</g>')
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="Helvetica, Arial, sans-serif">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
    )


def main() -> None:
    """Reads a result file and writes the picture."""
    parser = argparse.ArgumentParser(description="Draw a front as SVG.")
    parser.add_argument("front", type=Path, help="a result file, such as demo-out/front.json")
    parser.add_argument("picture", type=Path, help="the SVG file to write")
    arguments = parser.parse_args()
    arguments.picture.parent.mkdir(parents=True, exist_ok=True)
    arguments.picture.write_text(picture(json.loads(arguments.front.read_text())))


if __name__ == "__main__":
    main()
