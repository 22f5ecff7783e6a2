"""The interactive report as readers meet it: from disk, by slider and keyboard, on paper, on a phone."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext
from report_page import (
    Json,
    Open,
    Opened,
    Report,
    adult,
    browser,
    data_of,
    german,
    listen,
    open_report,
    report,
    scriptless,
    sogar,
)
from running import ROOT, Sogar

MEASURES = ("cost", "loss", "invalidity")


def number(text: str) -> float:
    """A number as the page writes it."""
    return float(text.replace("\u2212", "-").replace("+", "").replace(",", "").rstrip("%").strip())


def test_it_loads_from_disk_without_network_and_complaints(report: Report, open_report: Open) -> None:
    opened = open_report(report)
    for details in opened.page.locator("summary").all():
        details.click()
    opened.choose(0)
    opened.choose(len(report.front["points"]) - 1)
    assert opened.requests == [report.page.as_uri()]
    assert opened.complaints == []
    assert report.page.stat().st_size < 2_000_000


def test_only_the_hashed_script_and_style_may_run(report: Report, open_report: Open) -> None:
    text = report.page.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    for tag, kind in (('script type="module"', "script-src"), ("style", "style-src")):
        start = text.index(">", text.index(f"<{tag}")) + 1
        inline = text[start : text.index(f"</{tag.split()[0]}>", start)]
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy[1]
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    opened = open_report(report)
    ran = opened.page.evaluate(
        """() => {
            const script = document.createElement('script');
            script.textContent = 'document.documentElement.dataset.broken = "yes"';
            document.body.append(script);
            return document.documentElement.dataset.broken ?? null;
        }"""
    )
    assert ran is None
    assert any("Content Security Policy" in complaint for complaint in opened.complaints)


def test_numbers_tree_and_rules_follow_the_slider_as_the_command_line_has_them(
    report: Report, open_report: Open, sogar: Sogar
) -> None:
    opened = open_report(report)
    affected = report.front["population"]["affected"]
    for point in report.some_points:
        opened.choose(point)
        shown = json.loads(sogar("show", report.front_file, "--point", str(point), "--json"))
        # The page has the intervals of held-out people beside the groups, not in this file.
        shown.pop("holdout", None)
        for rule in shown["rules"]:
            rule.pop("holdout", None)
        assert json.loads(opened.saved("Download this summary as JSON")) == shown
        told = sogar("show", report.front_file, "--point", str(point), "--format", "rules")
        summary, _, _ = told.partition("Held out, ")
        assert opened.saved("Download this summary as Text").rstrip() == summary.rstrip()
        works = 100 * (1 - shown["loss"])
        assert number(opened.page.inner_text("#now-works")) == pytest.approx(works, abs=0.0501)
        assert number(opened.page.inner_text("#now-cost")) == pytest.approx(shown["cost"], abs=0.000501)
        assert f"{affected - shown['loss_count']:,} of the {affected:,} people" in opened.page.inner_text(
            "#summary-lede"
        )
        leaves = opened.texts("#tree-panel .leaf")
        assert len(leaves) == shown["leaves"]
        for leaf, rule in zip(leaves, shown["rules"], strict=True):
            assert rule["action"]["text"].replace("`", "") in leaf
            if rule["action"]["edits"]:
                assert f"works for {rule['flipped']:,} of {rule['rows']:,} p" in leaf
            else:
                assert f"{rule['rows']:,} p" in leaf
        # The page has the result file's own words, so names of features stand out in each piece of advice.
        edits = sum(len(rule["action"]["edits"]) for rule in shown["rules"])
        assert opened.page.locator("#tree-panel .leaf .advice .name").count() == edits


def test_group_figures_follow_the_slider_as_the_audit_has_them(
    report: Report, open_report: Open, sogar: Sogar
) -> None:
    opened = open_report(report)
    flags = [part for group in report.groups for part in ("--group", group)]
    audit = json.loads(sogar("audit", report.front_file, *flags, "--json", "--quiet"))
    groups = audit["reference"]["groupings"][0]["groups"]
    stated = [group for group in groups if group["measures"]]
    for point in report.some_points:
        opened.choose(point)
        rows = opened.page.locator("#groups-chosen tbody tr").all()
        assert len(rows) == len(groups)
        found = {row.locator("th").inner_text().strip(): row.locator("td").all_inner_texts() for row in rows}
        for group in stated:
            cells = found[group["group"]]
            assert number(cells[0]) == group["affected"]
            for cell, measure in zip(cells[1:4], MEASURES, strict=True):
                assert number(cell) == pytest.approx(
                    group["measures"][measure]["values"][point], abs=0.000501
                )
            gap = number(cells[4].split(" ")[0])
            assert gap == pytest.approx(group["measures"]["invalidity"]["gap"][point], abs=0.000501)


def test_leaves_by_group_add_up_to_the_leaves_and_no_small_cell_can_be_found_by_subtraction(
    report: Report,
) -> None:
    data = data_of(report.page)
    totals = [
        {group["affected"] for group in grouping["reference"]["groups"]} for grouping in data["groupings"]
    ]
    for leaf in (node for node in data["nodes"] if len(node) == 5):
        for groups, whole in zip(data["compositions"][leaf[4]], totals, strict=True):
            shown = [cell for cell in groups if cell is not None]
            if len(shown) == len(groups):
                assert np.sum(groups, axis=0).tolist() == leaf[1:3]
            elif len(shown) == len(groups) - 1:
                # Nothing but whole groups is left beside it, and these are no secret.
                assert all(rows == 0 or rows in whole for rows, _ in shown)
            assert all(rows == 0 or rows >= data["min_n"] for rows, _ in shown)


def test_everything_can_be_done_by_keyboard(german: Report, open_report: Open) -> None:
    opened = open_report(german)
    page, last = opened.page, len(german.front["points"]) - 1

    def tab_to(selector: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"{selector} can't be reached by keyboard")

    def press(key: str, wanted: int) -> None:
        page.keyboard.press(key)
        page.wait_for_function("(point) => document.documentElement.dataset.point === point", arg=str(wanted))

    tab_to("#slider")
    press("Home", 0)
    press("ArrowRight", 1)
    press("PageUp", 1 + int((last + 1) / 20 + 0.5))
    press("End", last)
    press("ArrowLeft", last - 1)
    assert "works for" in str(page.get_attribute("#slider", "aria-valuetext"))
    tab_to("#picks button")
    page.keyboard.press("Enter")
    chosen = data_of(german.page)["picks"][0]["point"]
    page.wait_for_function("(point) => document.documentElement.dataset.point === point", arg=str(chosen))
    tab_to("#front-chart summary")
    page.keyboard.press("Enter")
    page.locator("#front-chart tbody tr.current").wait_for()
    tab_to("#tab-tree")
    page.keyboard.press("ArrowRight")
    assert page.locator("#rules-panel").is_visible()
    assert not page.locator("#tree-panel").is_visible()


def test_the_chart_chooses_points_and_tells_of_them(german: Report, open_report: Open) -> None:
    opened = open_report(german)
    plot = opened.page.locator("#front-chart .hit")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    opened.page.mouse.move(box["x"] + box["width"] / 4, box["y"] + 40)
    assert "works for" in opened.page.inner_text("#front-chart .tip")
    before = opened.point
    opened.page.mouse.down()
    opened.page.mouse.up()
    opened.page.wait_for_function(
        "(before) => document.documentElement.dataset.point !== before", arg=str(before)
    )
    cost = german.front["points"][opened.point]["cost"]
    highest = max(
        point["cost"] for block in (german.front, german.front["holdout"]) for point in block["points"]
    )
    assert cost == pytest.approx(1.02 * highest / 4, abs=0.02)


def test_cost_loss_and_gap_follow_the_slider_the_limit_and_the_groups(
    german: Report, open_report: Open, sogar: Sogar
) -> None:
    opened = open_report(german)
    flags = [*_group_flags(german), "--draws", "0", "--unreachable", "no", "--json"]
    audited = json.loads(sogar("audit", german.front_file, *flags))["reference"]["groupings"]
    names = [grouping["name"] for grouping in data_of(german.page)["groupings"]]
    groupings = [next(one for one in audited if one["name"] == name) for name in names]
    section = opened.page.locator("#fairness")

    def widest(grouping: Json, measure: str, point: int) -> float:
        measures = [group["measures"] for group in grouping["groups"] if group["measures"]]
        return max(abs(float(one[measure]["gap"][point])) for one in measures)

    for point in german.some_points[::4]:
        opened.choose(point)
        shown = number(section.locator("#fairness-chosen b").inner_text())
        assert shown == pytest.approx(widest(groupings[0], "loss", point), abs=6e-4)
        assert section.locator("svg circle.gap-chosen").count() == 2
    # Another measure.
    section.get_by_label("Gap of", exact=True).select_option(label="cost")
    shown = number(section.locator("#fairness-chosen b").inner_text())
    assert shown == pytest.approx(widest(groupings[0], "cost", opened.point), abs=6e-4)
    # A limit greys out the rest; its button chooses the best within it.
    slider = section.get_by_label("Limit on the gap", exact=True)
    slider.evaluate("(one) => { one.value = 40; one.dispatchEvent(new Event('input')); }")
    limit = 0.4 * max(widest(groupings[0], "cost", point) for point in range(len(german.front["points"])))
    within = [
        point for point in range(len(german.front["points"])) if widest(groupings[0], "cost", point) <= limit
    ]
    best = min(within, key=lambda point: german.front["points"][point]["invalidity"])
    section.get_by_role("button", name="Choose summary").click()
    opened.page.wait_for_timeout(200)
    assert opened.point == best
    assert section.locator("path.beyond").first.get_attribute("d") != ""
    opened.page.locator("#groups").get_by_label("Groups by").select_option(index=1)
    assert groupings[1]["shown"] in section.inner_text()


def test_charts_have_tables_with_the_same_figures(german: Report, open_report: Open) -> None:
    opened = open_report(german)
    page, points = opened.page, german.front["points"]
    page.locator("#front-chart summary").first.click()
    with page.expect_download() as download:
        page.locator("#front-chart").get_by_role("button", name="Download as CSV").first.click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(points) + 1
    assert [float(cell) for cell in lines[8].split(",")[:4]] == pytest.approx(
        [7, points[7]["cost"], points[7]["loss"], points[7]["invalidity"]]
    )
    for section in ("#front-chart", "#groups-body", "#features-body"):
        assert page.locator(f"{section} details.as-table").count() >= 1


def test_summaries_can_be_taken_away(german: Report, open_report: Open) -> None:
    opened = open_report(german)
    assert opened.saved("Download this summary as SVG").startswith('<?xml version="1.0"')
    table = opened.saved("Download this summary as CSV").splitlines()
    assert table[0] == "leaf,if,action,people,flipped,cost_sum"
    assert len(table) == 1 + german.front["points"][opened.point]["leaves"]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_accessibility_checker_finds_nothing_serious(
    report: Report, open_report: Open, dark: bool
) -> None:
    opened = open_report(report, dark=dark)
    # One of the long tables stands for all: the checker looks at every cell.
    for details in [
        *opened.page.locator("details:not(.as-table) > summary").all(),
        opened.page.locator("summary").nth(1),
    ]:
        details.click()
    found = Axe().run(opened.page).response["violations"]
    serious = [
        f"{violation['id']}: {violation['nodes'][0]['html'][:200]}"
        for violation in found
        if violation["impact"] in {"serious", "critical"}
    ]
    assert serious == []


def test_nothing_is_wider_than_a_phone(report: Report, open_report: Open) -> None:
    opened = open_report(report, width=360, height=740)
    for point in report.some_points[::5]:
        opened.choose(point)
        assert opened.page.evaluate("document.documentElement.scrollWidth") == 360
    box = opened.page.locator("#slider").bounding_box()
    assert box is not None
    assert box["width"] > 150


def test_on_paper_there_are_no_controls_and_all_explanations(german: Report, open_report: Open) -> None:
    opened = open_report(german)
    page = opened.page
    page.emulate_media(media="print")
    for hidden in (".control", ".contents", ".tools", "#theme", "#headline"):
        assert not page.locator(hidden).first.is_visible()
    printed = page.locator("#printed")
    text = printed.inner_text()
    for shown in ("What was found", "What was audited", "Groups", "What it does not say", "Sign-off"):
        assert shown in text
    # All groupings are on paper, not only the chosen one; names have no backticks.
    assert all(f"By {name}" in text for name in ("marital status and sex", "age <= 25 years"))
    assert "`" not in text
    drawn = "(images) => images.every((image) => image.complete && image.naturalWidth > 300)"
    assert printed.locator("img").count() > 0
    assert printed.locator("img").evaluate_all(drawn)
    # A figure and its table stand side by side, so that two of them fit on a page (1,000 pixels of A4).
    shape = "(all) => all.map((one) => [one.offsetHeight, ...[...one.children].map((it) => it.offsetLeft)])"
    besides = printed.locator(".beside").evaluate_all(shape)
    assert len(besides) >= 2
    assert all(height < 450 and figure < table for height, _, figure, table in besides)
    page.emulate_media(media="screen")
    assert not printed.is_visible()
    assert len(page.pdf(format="A4")) > 10_000


@pytest.mark.parametrize("width", [360, 1200])
def test_the_static_report_needs_no_script_and_has_the_figures_of_the_front(
    german: Report, browser: Browser, sogar: Sogar, tmp_path: Path, width: int
) -> None:
    page_file = tmp_path / "static.html"
    sogar("report", german.front_file, "--format", "static", *_group_flags(german), "-o", page_file)
    context = browser.new_context(viewport={"width": width, "height": 740}, java_script_enabled=False)
    page = context.new_page()
    page.goto(page_file.as_uri())
    text = page.inner_text("main")
    for point in german.front["points"]:
        if f"(summary {german.front['points'].index(point)})" in text:
            assert f"{point['cost']:.3f}" in text
    assert "Sign-off" in text
    # Names for readers everywhere but in the commands.
    assert re.findall(r"[a-z]+_[a-z_]+", text.split("How to reproduce it")[0]) == []
    # Tables that are wider than a phone scroll by themselves.
    wide = page.locator("main").bounding_box()
    assert wide is not None
    assert wide["width"] <= width
    context.close()
    # Without scripts, the interactive page is that document.
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(german.page.as_uri())
    assert page.locator("#printed").is_visible()
    assert not page.locator("#headline").is_visible()
    context.close()


def test_the_static_report_and_letters_pass_the_accessibility_checker(
    german: Report, browser: Browser, sogar: Sogar, tmp_path: Path
) -> None:
    static, letter = tmp_path / "static.html", tmp_path / "letter.html"
    sogar("report", german.front_file, "--format", "static", *_group_flags(german), "-o", static)
    sogar("explain", german.front_file, "--row", "2", "--letter", letter)
    for file in (static, letter):
        # The checker is a script, which the page's own policy forbids.
        context = browser.new_context(bypass_csp=True, viewport={"width": 360, "height": 740})
        page = context.new_page()
        page.goto(file.as_uri())
        found = Axe().run(page).response["violations"]
        assert [violation["id"] for violation in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        context.close()


def _group_flags(report: Report) -> list[str]:
    return [flag for group in report.groups for flag in ("--group", group)]


def _notebook(report: Report) -> str:
    """A page with the cell of `front.show()`."""
    found = importlib.util.spec_from_file_location("show", ROOT / "python" / "sogar" / "_show.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)

    class Fitted:
        summary_ = "the summary"

        def report(self, path: Path, **_: object) -> None:
            path.write_text(report.page.read_text(encoding="utf-8"), encoding="utf-8")

    cell = module.ReportView(Fitted(), (), 720, {})._repr_html_()
    return f"<!doctype html><html lang='en'><title>notebook</title><body><p>secret</p>{cell}</body></html>"


def test_the_notebook_view_is_the_report_in_a_frame_that_sees_nothing_else(
    german: Report, browser: Browser, tmp_path: Path
) -> None:
    notebook = tmp_path / "notebook.html"
    notebook.write_text(_notebook(german), encoding="utf-8")
    page = browser.new_context(viewport={"width": 900, "height": 900}).new_page()
    requests: list[str] = []
    complaints: list[str] = []
    listen(page, requests, complaints)
    page.goto(notebook.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator("html[data-ready=yes]").wait_for()
    assert inside.locator("#headline").is_visible()
    assert not inside.locator("#printed").is_visible()
    frame = page.frames[1]
    reaching = "() => { try { return parent.document.body.innerText } catch (error) { return error.name } }"
    assert frame.evaluate(reaching) == "SecurityError"
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert [request for request in requests if request.startswith("http")] == []
    assert [complaint for complaint in complaints if "Blocked a frame" not in complaint] == []
    page.context.close()


def test_the_notebook_view_without_scripts_is_the_static_report(
    german: Report, scriptless: BrowserContext, tmp_path: Path
) -> None:
    notebook = tmp_path / "notebook.html"
    notebook.write_text(_notebook(german), encoding="utf-8")
    page = scriptless.new_page()
    page.goto(notebook.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator("#printed").wait_for()
    assert "What was found" in inside.locator("#printed").inner_text()
    assert not inside.locator("#headline").is_visible()
    # A script in such a frame would have run by now.
    probe = "<p>none ran</p><script>document.querySelector('p').textContent = 'one ran'</script>"
    notebook.write_text(f'<iframe sandbox="allow-scripts" srcdoc="{probe}"></iframe>', encoding="utf-8")
    page.goto(notebook.as_uri())
    assert page.frame_locator("iframe").locator("p").inner_text() == "none ran"


def test_on_a_phone_wide_tables_scroll_and_show_it_and_no_name_is_cut(
    german: Report, open_report: Open
) -> None:
    page = open_report(german, width=360, height=740).page
    for details in page.locator("details:not(.as-table) > summary").all():
        details.click()
    clipped = page.evaluate(
        """() => {
            const shown = (node) => node.getClientRects().length > 0;
            const wide = [...document.querySelectorAll('table')].filter(shown)
                .filter((table) => table.getBoundingClientRect().right > innerWidth + 1);
            const stuck = wide.filter((table) => {
                const box = table.closest('.table-wrap, .scroll');
                const style = box && getComputedStyle(box);
                return !box || style.overflowX !== 'auto' || style.backgroundImage === 'none';
            });
            const texts = [...document.querySelectorAll('th, td, button, h2, h3, p, li')].filter(shown);
            const hides = (node) => getComputedStyle(node).overflowX === 'hidden';
            const cut = texts.filter((node) => hides(node) && node.scrollWidth > node.clientWidth + 1);
            // Words of charts, and names that are broken between two letters.
            const drawn = [...document.querySelectorAll('svg text')].filter(shown)
                .filter((node) => node.getBoundingClientRect().right > innerWidth + 1);
            const broken = [...document.querySelectorAll('tbody th .value, tbody th .name')].filter(shown)
                .filter((node) => node.textContent.length < 40 && node.firstChild?.nodeType === 3)
                .filter((node) => {
                    const range = document.createRange();
                    const top = (from, to) => {
                        range.setStart(node.firstChild, from);
                        range.setEnd(node.firstChild, to);
                        return range.getBoundingClientRect().top;
                    };
                    return [...node.textContent.matchAll(/\\p{L}+/gu)].some(({ index, 0: word }) => {
                        const end = index + word.length;
                        return top(index, index + 1) !== top(end - 1, end);
                    });
                });
            const captions = [...document.querySelectorAll('caption span')].filter(shown)
                .filter((node) => node.getBoundingClientRect().right > innerWidth + 1);
            const outside = texts.filter((node) => !node.closest('table, .contents, .scroll'))
                .filter((node) => node.getBoundingClientRect().right > innerWidth + 1);
            const name = (node) => node.outerHTML.slice(0, 120);
            const bad = [...stuck, ...cut, ...outside, ...drawn, ...broken, ...captions];
            return { wide: wide.length, bad: bad.map(name) };
        }"""
    )
    assert clipped["wide"] > 0
    assert clipped["bad"] == []
    assert "`" not in page.inner_text("main")
    # Names for readers; the list of features and the commands have those of the table.
    text = "".join(page.inner_text(f"#{part}") for part in ("groups", "fairness", "reach", "features"))
    assert re.findall(r"[a-z]+_[a-z_]+", text) == []
    changeable = page.locator("#features").inner_text()
    assert "marital status" not in changeable


def test_an_address_leads_to_a_point(german: Report, open_report: Open) -> None:
    opened = open_report(german)
    opened.page.goto(f"{german.page.as_uri()}#point=7")
    opened.page.wait_for_function("document.documentElement.dataset.point === '7'")
    assert "Summary 7 of" in opened.page.inner_text("#now")


HOSTILE = [
    "</script><script>alert(1)</script>",
    "=1+1",
    "\u202eright to left",
    "“quotes” \"and\" 'more'",
    "🙂",
    "x" * 10_000,
]


@pytest.fixture(scope="module")
def hostile(sogar: Sogar, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A table whose names and categories try everything."""
    folder = tmp_path_factory.mktemp("hostile")
    name = "<img src=x onerror=alert(1)>"

    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    lines = [f"{cell(name)},amount,{cell('-->group')}"]
    lines += [f"{cell(HOSTILE[i % 6])},{i % 17},{cell(HOSTILE[i % 2])}" for i in range(240)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "score.py").write_text(
        "import csv, sys\n"
        "for row in list(csv.reader(sys.stdin))[1:]:\n"
        "    print(int(row[1] or 0) / 16 + (0.3 if row[0].startswith('=') else 0))\n"
    )
    command = f"python3 {folder / 'score.py'}"
    front, page = folder / "front.json", folder / "report.html"
    sogar(
        "solve", folder / "people.csv", "--model-command", command, "--min-leaf", "20", "-o", front, "--quiet"
    )
    sogar(
        "report",
        front,
        "--model-command",
        command,
        "--group=-->group",
        "--title",
        HOSTILE[0],
        "-o",
        page,
        "-q",
    )
    return Report(page, front, json.loads(front.read_text()), ("-->group",))


def test_hostile_names_are_shown_literally_and_run_nothing(hostile: Report, open_report: Open) -> None:
    opened = open_report(hostile)
    for details in opened.page.locator("summary").all():
        details.click()
    for point in range(len(hostile.front["points"])):
        opened.choose(point)
    assert opened.complaints == []
    assert opened.requests == [hostile.page.as_uri()]
    assert opened.page.title() == HOSTILE[0]
    # The only image is the figure for paper, drawn by sogar.
    sources = [image.get_attribute("src") or "" for image in opened.page.locator("img").all()]
    assert all(source.startswith("data:image/svg+xml") for source in sources), sources
    assert HOSTILE[0] in opened.page.inner_text("#groups-chosen")
    assert "<img src=x onerror=alert(1)>" in opened.page.inner_text("#audited")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 1280
    opened.saved("Download this summary as SVG")
    for cell in opened.saved("Download this summary as CSV").splitlines()[1:]:
        assert not re.search(r"(^|,)[=+@]", cell)


def single_people(data: Json) -> list[str]:
    """Keys that would tell of single rows."""
    return [key for key in ("people", "affected_rows", "flips") if data.get(key)]


def test_single_people_are_named_only_on_request(
    german: Report, sogar: Sogar, tmp_path: Path, open_report: Open
) -> None:
    assert single_people(data_of(german.page)) == []
    page = tmp_path / "people.html"
    sogar("report", german.front_file, "--include-rows", "-o", page, "--quiet")
    assert len(data_of(page)["people"]["rows"]) == german.front["population"]["affected"]
    opened = open_report(Report(page, german.front_file, german.front, ()))
    opened.page.get_by_text("Single people", exact=True).last.click()
    rows = opened.page.locator("#summary-body tbody tr")
    rows.nth(99).wait_for()
    assert rows.count() == 100
    point = german.front["points"][opened.point]
    with opened.page.expect_download() as download:
        opened.page.locator("#summary-body").get_by_role(
            "button", name="Download as CSV", exact=True
        ).last.click()
    with Path(download.value.path()).open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    flipped = sum(line["works"] == "yes" for line in lines)
    assert len(lines) - flipped == point["loss_count"]
    total = sum(float(line["cost"]) for line in lines)
    assert total == pytest.approx(point["cost_sum"] / german.front["cost"]["unit"])


def test_a_front_alone_makes_a_report_that_says_what_it_lacks(
    german: Report, sogar: Sogar, tmp_path: Path, open_report: Open
) -> None:
    front = json.loads(german.front_file.read_text())
    front["run"]["table_path"] = "gone.csv"
    (tmp_path / "front.json").write_text(json.dumps(front))
    page = tmp_path / "report.html"
    sogar("report", tmp_path / "front.json", "-o", page, "--quiet")
    opened: Opened = open_report(Report(page, tmp_path / "front.json", front, ()))
    assert "--group" in opened.page.inner_text("#groups")
    assert "was not examined" in opened.page.inner_text("#reach")
    assert opened.complaints == []
