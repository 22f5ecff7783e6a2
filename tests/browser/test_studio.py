"""The studio as somebody without a terminal meets it: load, mark, search, forbid, compare, save."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Route
from report_page import Json, browser
from running import GERMAN, the_binary
from studio_page import Start, Studio, many, start

FILES: list[str | Path] = [GERMAN / "german.csv", "--model", GERMAN / "model.txt"]


def without_run(text: bytes) -> Json:
    """A result without what differs between two runs of the same problem."""
    found: Json = json.loads(text)
    found.pop("run")
    return found


def mark(studio: Studio, name: str, choice: str) -> None:
    """Says what people can do about a column."""
    studio.changed(lambda: studio.page.select_option(f"#mode-{studio.column(name)}", choice))


def limit(studio: Studio, name: str, value: int) -> None:
    """Sets a limit as a person does: types it, and leaves the field."""

    def typed() -> None:
        studio.page.fill(f"#limit-{name}", str(value))
        studio.page.press(f"#limit-{name}", "Enter")

    studio.changed(typed)


def commands_give_the_same_bytes(studio: Studio, folder: Path) -> None:
    """Saves the configuration, runs the commands that the page shows as they stand, and compares."""
    studio.tab("take")
    (folder / "sogar.toml").write_bytes(studio.saved(".take a[href$='sogar.toml']"))
    solve, report = studio.page.locator("#commands").inner_text().splitlines()

    def run(line: str) -> None:
        program, *arguments = shlex.split(line)
        assert program == "sogar"
        subprocess.run([the_binary(), *arguments], cwd=folder, check=True, capture_output=True, timeout=600)

    run(solve)
    front = folder / "front.json"
    saved = studio.saved(".take a[href$='front.json']")
    assert without_run(saved) == without_run(front.read_bytes())
    # The report shows date and times of the run, so it is that of the saved front.
    front.write_bytes(saved)
    run(report)
    assert studio.saved(".take a[href$='report.html']") == (folder / "report.html").read_bytes()


def serious_faults(studio: Studio) -> list[tuple[str, str]]:
    """What the accessibility checker finds on the page."""
    found = Axe().run(studio.page, options={"resultTypes": ["violations"]})
    faults = [one for one in found.response["violations"] if one["impact"] in ("serious", "critical")]
    return [(one["id"], one["nodes"][0]["html"]) for one in faults]


def ask_what_if(studio: Studio) -> str:
    """Forbids the first piece of advice of the shown report; gives the label of the choice."""
    studio.tab("explore")
    studio.report_ready()
    studio.report.locator(".leaf .what-if").first.click()
    choice = studio.page.locator("#what-if[open] .choices button").first
    label = choice.inner_text()
    choice.click()
    return label


def test_the_whole_story_on_german_credit(start: Start, tmp_path: Path) -> None:
    studio = start(*FILES, "--config", GERMAN / "sogar.toml")
    page = studio.page
    # See and mark.
    assert page.locator("#columns > li").count() == 20
    edits = studio.problem["size"]["edits"]
    mark(studio, "duration", "fixed")
    assert studio.problem["size"]["edits"] < edits
    assert page.locator("#now .delta").count() == 2, "what the mark did to edits and actions"
    studio.changed(lambda: page.locator("#undo").click())
    assert studio.problem["size"]["edits"] == edits
    # Search.
    first = studio.searched(lambda: page.locator("#solve").click())
    assert first["complete"]
    assert first["points"] > 200
    # Forbid, and compare on the same resolved steps.
    label = ask_what_if(studio)
    page.wait_for_function("() => document.documentElement.dataset.runs === '2'", timeout=120_000)
    second = studio.state["runs"][1]
    assert second["label"] == label
    assert second["known"] == second["actions"] < first["actions"]
    page.locator("#price .price").wait_for()
    told = page.locator("#price").inner_text()
    assert "At an equal mean cost" in told
    assert "were known from earlier runs" in told
    # Save: the commands on the page give the same.
    commands_give_the_same_bytes(studio, tmp_path)
    # Everything came from the studio's own address, and nothing complained.
    own = studio.address.rsplit("/", 2)[0]
    assert {url for url in studio.requests if not url.startswith((own, "blob:", "data:"))} == set()
    assert studio.complaints == []
    assert studio.ended() == 0


def test_a_table_of_twenty_thousand_people_with_odd_names(start: Start, many: Path, tmp_path: Path) -> None:
    studio = start(many / "people.csv", "--model", many / "model.txt")
    page = studio.page
    settings = {column["name"]: column["settings"] for column in studio.problem["columns"]}
    assert settings["age"]["protected"], "as config init would say"
    assert settings["sex"]["protected"]
    odd = "<img src=x onerror=alert(1)>"
    assert page.locator("#columns h3", has_text=odd).count() == 1
    mark(studio, odd, "fixed")
    page.locator("#more-settings > summary").click()
    limit(studio, "max_depth", 2)
    first = studio.searched(lambda: page.locator("#solve").click())
    assert first["complete"]
    ask_what_if(studio)
    page.wait_for_function("() => document.documentElement.dataset.runs === '2'", timeout=300_000)
    page.locator("#price .price").wait_for()
    commands_give_the_same_bytes(studio, tmp_path)
    assert studio.complaints == []


def test_files_are_dropped_and_faults_are_explained(start: Start, tmp_path: Path) -> None:
    studio = start()
    page = studio.page
    trouble = page.locator("#trouble")
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x08builtins\x93.")
    page.set_input_files("#file-table", GERMAN / "german.csv")
    page.wait_for_function("() => document.getElementById('files').textContent.includes('german.csv')")
    page.set_input_files("#file-model", tmp_path / "model.pkl")
    trouble.get_by_text("pickle").first.wait_for()
    page.set_input_files("#file-model", GERMAN / "model.txt")
    page.locator("#panel-table").wait_for(state="visible")
    assert page.locator("#columns > li").count() == 20
    assert trouble.inner_text() == ""
    # What can't be read or does not fit is said, and what is open stays open.
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (tmp_path / "other.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "hello.txt").write_text("hello")
    page.locator("#tab-files").click()
    for field, name, said, good in [
        ("table", "picture.csv", "picture.csv", "german.csv"),
        ("model", "hello.txt", "hello.txt", "model.txt"),
        ("table", "other.csv", "column", "german.csv"),
    ]:
        page.set_input_files(f"#file-{field}", tmp_path / name)
        trouble.get_by_text(said).first.wait_for()
        assert "sogar-studio-" not in trouble.inner_text(), "no temporary folder"
        page.locator("#panel-files").get_by_text("do not go together yet").wait_for()
        assert page.locator("#files").inner_text() == "german.csv · model.txt"
        page.set_input_files(f"#file-{field}", GERMAN / good)
        page.wait_for_function("() => document.getElementById('trouble').textContent === ''")
    with (tmp_path / "large.csv").open("wb") as large:
        os.truncate(large.fileno(), (256 << 20) + 1)
    page.set_input_files("#file-table", tmp_path / "large.csv")
    trouble.get_by_text("more than 256 MB").wait_for()
    assert studio.state["table"] == "german.csv"
    page.locator("#tab-table").click()
    # Constraints that leave no action.
    for column in studio.problem["columns"]:
        if column["edits"]:
            mark(studio, column["name"], "fixed")
    assert "no feature can be changed" in page.locator("#now").inner_text()
    assert page.locator("#solve").is_disabled()
    # The history leads back.
    studio.changed(lambda: page.select_option("#history", "0"))
    assert page.locator("#solve").is_enabled()
    page.locator("#more-settings > summary").click()
    limit(studio, "max_depth", 1)
    studio.searched(lambda: page.locator("#solve").click())
    # The commands name the files as they were dropped, and give the same beside them.
    for name in ("german.csv", "model.txt"):
        shutil.copy(GERMAN / name, tmp_path)
    commands_give_the_same_bytes(studio, tmp_path)
    refused = [text for text in studio.complaints if "400" not in text]
    assert refused == []


def test_tabs_share_one_state_and_survive(start: Start) -> None:
    studio = start(*FILES, "--config", GERMAN / "sogar.toml")
    other = studio.page.context.new_page()
    other.goto(studio.address)
    other.wait_for_function("() => document.documentElement.dataset.ready === 'yes'")
    before = other.evaluate("document.documentElement.dataset.problem")
    other.bring_to_front()
    mark(studio, "credit_amount", "fixed")
    other.wait_for_function("(before) => document.documentElement.dataset.problem !== before", arg=before)
    assert other.locator(f"#mode-{studio.column('credit_amount')}").input_value() == "fixed"
    # A tab closed in the middle of a search: the search goes on, and a new tab shows it.
    studio.page.evaluate("fetch('solve', { method: 'POST', body: '{}' })")
    other.close()
    again = studio.page.context.new_page()
    again.goto(studio.address)
    again.wait_for_function("() => document.documentElement.dataset.runs === '1'", timeout=120_000)
    # The button ends the command, and every page says so.
    again.locator("#end").click()
    again.get_by_role("heading", name="The studio has ended").wait_for()
    assert studio.process.wait(timeout=60) == 0
    other_pages = [text for text in studio.complaints if "ERR_" not in text]
    assert other_pages == []


def test_a_killed_server_is_noticed(start: Start, tmp_path: Path) -> None:
    studio = start(*FILES)
    mark(studio, "duration", "fixed")
    studio.process.kill()
    page = studio.page
    page.locator("#trouble").get_by_text("does not answer any more").wait_for(timeout=30_000)
    # The settings are not lost: another studio takes them.
    saved = tmp_path / "sogar.toml"
    saved.write_bytes(studio.saved("#rescue"))
    again = start()
    again.page.set_input_files("#file-config", saved)
    again.page.set_input_files("#file-table", GERMAN / "german.csv")
    again.page.set_input_files("#file-model", GERMAN / "model.txt")
    again.page.locator("#panel-table").wait_for(state="visible")
    assert again.problem["config"]["features"]["duration"]["immutable"] is True


def test_variants_have_names_and_stay_in_the_drawing(start: Start) -> None:
    studio = start(*FILES, "--config", GERMAN / "sogar.toml")
    page = studio.page
    page.locator("#more-settings > summary").click()
    limit(studio, "max_depth", 1)
    studio.searched(lambda: page.locator("#solve").click())
    page.get_by_role("button", name="Name Run 1").click()
    page.locator(".rename input").fill("Everything allowed")
    page.locator(".rename button").click()
    page.locator(".legend").get_by_text("Everything allowed").wait_for()
    for name in ("duration", "credit_amount"):
        studio.tab("table")
        mark(studio, name, "fixed")
        studio.searched(lambda: page.locator("#solve").click())
    lines = page.locator(".legend li").all_inner_texts()
    assert len(lines) == 3
    assert any(line.startswith("Everything allowed") for line in lines)
    # Its settings come back as one step, and the search after it gives its front.
    studio.changed(lambda: page.get_by_role("button", name="Use the settings of Everything allowed").click())
    run = studio.searched(lambda: page.locator("#solve").click())
    assert run["drawn"] == studio.state["runs"][0]["drawn"]
    assert run["known"] == run["actions"]


ADVICE = "document.querySelector('iframe.report').contentDocument.querySelectorAll('.leaf .what-if')"


def clicks_advice(studio: Studio, before: str) -> None:
    """Clicks a piece of advice in the same moment as something else; its question opens, with its text."""
    told = studio.page.evaluate(
        f"""() => {{
            {before}
            const all = {ADVICE};
            const button = all[all.length - 1];
            button.click();
            return button.getAttribute('aria-label');
        }}"""
    )
    studio.page.locator("#what-if[open]").wait_for(timeout=20_000)
    text = studio.page.locator("#what-if .advice").inner_text()
    assert told == f"What if nobody were told: {text}"


def test_a_click_on_advice_right_after_anything_opens_its_question(start: Start) -> None:
    studio = start(*FILES, "--config", GERMAN / "sogar.toml")
    page = studio.page
    page.locator("#more-settings > summary").click()
    limit(studio, "max_depth", 1)
    studio.searched(lambda: page.locator("#solve").click())
    escape = partial(page.keyboard.press, "Escape")
    for turn in range(4):
        # Forbid: a search starts, and the report is that of its run as soon as the step is open.
        ask_what_if(studio)
        page.wait_for_function(
            f"() => document.documentElement.dataset.runs === '{turn + 2}'", timeout=120_000
        )
        studio.tab("explore")
        studio.report_ready()
        assert page.locator("#explore-run").input_value() == str(turn + 2)
        for before in (
            "document.getElementById('undo').click();",
            "document.getElementById('redo').click();",
            "document.getElementById('stop').click();",
        ):
            clicks_advice(studio, before)
            escape()
        # The slider, and an undo: people click as soon as they see the tree.
        slider = studio.report.locator("#slider")
        slider.focus()
        for key in ("End", "ArrowLeft", "PageDown", "PageUp"):
            page.keyboard.press(key)
            clicks_advice(studio, "document.getElementById('undo').click();")
            escape()
            page.evaluate("document.getElementById('redo').click()")
            slider.focus()
        # With a mouse, which is pressed and released.
        advice = studio.report.locator(".leaf .what-if").last
        page.locator("#undo").click()
        advice.click(delay=60)
        page.locator("#what-if[open]").wait_for(timeout=20_000)
        escape()
        page.locator("#redo").click()
        advice.click(delay=60)
        page.locator("#what-if[open]").wait_for(timeout=20_000)
        escape()
    assert studio.complaints == []


def test_a_report_that_is_read_stays_and_one_that_loads_cannot_be_clicked(start: Start) -> None:
    studio = start(*FILES, "--config", GERMAN / "sogar.toml")
    page = studio.page
    page.locator("#more-settings > summary").click()
    limit(studio, "max_depth", 1)
    studio.searched(lambda: page.locator("#solve").click())
    studio.tab("explore")
    studio.report_ready()
    # A run that ends replaces nothing under the reader's hands: it offers itself.
    studio.searched(lambda: page.evaluate("fetch('solve', { method: 'POST', body: '{}' })"))
    assert page.locator("#explore-run").input_value() == "1"
    clicks_advice(studio, "")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Show it").click()
    studio.report_ready()
    assert page.locator("#explore-run").input_value() == "2"
    assert page.get_by_role("button", name="Show it").count() == 0
    # A slow report: what was there is neither seen nor clicked, and the page says why.

    def slow(route: Route) -> None:
        page.wait_for_timeout(1500)
        route.continue_()

    page.route("**/explore?*", slow)
    page.select_option("#explore-run", "1")
    page.locator("#panel-explore").get_by_text("Making the report of 1").wait_for()
    assert not page.locator("iframe.report").is_visible()
    page.evaluate(f"{ADVICE}[0].click()")
    studio.report_ready()
    assert not page.locator("#what-if").is_visible()
    # The choice is compared with the run whose report was shown.
    label = ask_what_if(studio)
    page.wait_for_function("() => document.documentElement.dataset.runs === '3'", timeout=120_000)
    assert page.locator("#compare-with").input_value() == "1"
    assert studio.state["runs"][2]["label"] == label
    # A double click on advice opens its question, and chooses nothing that appears under it.
    studio.tab("explore")
    studio.report_ready()
    studio.report.locator(".leaf .what-if").first.dblclick()
    page.locator("#what-if[open]").wait_for()
    box = page.locator("#what-if .choices button").first.bounding_box()
    assert box is not None
    page.keyboard.press("Escape")
    advice = studio.report.locator(".leaf .what-if").first
    advice.evaluate("(button) => { button.style.position = 'fixed'; button.style.top = '0'; }")
    there = advice.bounding_box()
    assert there is not None
    advice.evaluate(
        "(button, [x, y]) => Object.assign(button.style, { left: `${x}px`, top: `${y}px`, zIndex: 9 })",
        [box["x"] - there["x"] + 40, box["y"] - there["y"] + 5],
    )
    advice.dblclick(position={"x": 5, "y": 5})
    page.locator("#what-if[open]").wait_for()
    page.wait_for_timeout(300)
    assert page.locator("#what-if").is_visible()
    assert len(studio.state["runs"]) == 3
    page.keyboard.press("Escape")
    # Back in the browser does not bring another run's report.
    assert page.evaluate("history.length") <= 2


def test_quick_clicks_and_typed_texts_are_not_lost(start: Start, many: Path) -> None:
    studio = start(many / "people.csv", "--model", many / "model.txt")
    page = studio.page
    page.locator("#more-settings > summary").click()
    limit(studio, "max_depth", 1)
    income, region = studio.column("income"), studio.column("region")
    # Two clicks on Undo go back two steps.
    for name in ("income", "debt"):
        mark(studio, name, "fixed")
    page.locator("#undo").click(click_count=2)
    page.wait_for_function("() => document.getElementById('history').value === '1'")
    # What is typed while the page learns of a change stays, and becomes a setting.
    page.locator(f"#more-{income} > summary").click()
    page.select_option(f"#direction-{income}", "increase")
    page.locator(f"#weight-{income}").press_sequentially("2.5", delay=150)
    page.locator(f"#weight-{income}").press("Tab")
    page.wait_for_function("() => document.getElementById('toml').textContent.includes('weight = 2.5')")
    # What is pressed while the page learns of a change is clicked, and no click takes another back.
    page.locator(f"#more-{region} > summary").click()
    for k in range(2):
        page.locator(f"#target-{region}-{k}").click(delay=400)
    page.wait_for_function(
        """() => document.getElementById('toml').textContent.includes('targets = ["south", "west"]')"""
    )
    page.evaluate("""() => { for (const text of ['income >= 100', 'debt >= 0']) {
        document.getElementById('rule-new').value = text;
        document.getElementById('rule-add').click();
    } }""")
    page.wait_for_function("() => document.querySelectorAll('#rules li').length === 2")
    # What is no number changes nothing, and the field shows what holds.
    page.fill(f"#weight-{income}", "0,5")
    page.locator(f"#weight-{income}").press("Enter")
    page.locator("#trouble").get_by_text("not a number").wait_for()
    page.locator(f"#weight-{income}").blur()
    page.wait_for_function(f"() => document.getElementById('weight-{income}').value === '2.5'")
    # A double click on Search is one search, and does not stop it.
    page.evaluate("""() => {
        const button = document.getElementById('solve');
        for (const wait of [0, 120, 240]) setTimeout(() => {
            const { x, y, width, height } = button.getBoundingClientRect();
            (width ? button : document.getElementById('stop')).click();
        }, wait);
    }""")
    page.wait_for_function(
        "() => document.documentElement.dataset.runs === '1'"
        " && document.documentElement.dataset.searching === 'no'"
    )
    assert [run["complete"] for run in studio.state["runs"]] == [True]
    assert [text for text in studio.complaints if "400" not in text] == []


def test_marks_move_nothing_under_the_reader(start: Start) -> None:
    studio = start(*FILES)
    page = studio.page
    columns = "[...document.querySelectorAll('#columns h3')].map((name) => name.textContent)"
    names = page.evaluate(columns)
    assert names[0] == "credit_history", "what looks odd comes first"
    for name in names[::4]:
        field = page.locator(f"#mode-{studio.column(name)}")
        field.scroll_into_view_if_needed()
        page.wait_for_timeout(200)
        top = "document.activeElement.getBoundingClientRect().top"
        field.focus()
        before = page.evaluate(top)
        for choice in ("fixed", "protected"):
            mark(studio, name, choice)
            assert abs(page.evaluate(top) - before) < 3, f"{name} jumps"
    assert page.evaluate(columns) == names


def test_each_mark_is_a_setting_and_says_at_once_what_follows(start: Start) -> None:
    studio = start(*FILES, "--config", GERMAN / "sogar.toml")
    page = studio.page
    page.locator("#more-settings > summary").click()
    amount, job = studio.column("credit_amount"), studio.column("job")
    for column in (amount, job):
        page.locator(f"#more-{column} > summary").click()

    def typed(field: str, text: str) -> None:
        page.fill(field, text)
        page.press(field, "Enter")

    def after(act: Callable[[], object], *keys: str) -> Any:
        studio.changed(act)
        found: Any = studio.problem["config"]
        for key in keys:
            found = found[key]
        return found

    before = studio.problem["size"]
    marks: list[tuple[Callable[[], object], str, Any]] = [
        (partial(page.select_option, f"#mode-{amount}", "fixed"), "immutable", True),
        (partial(page.select_option, f"#mode-{amount}", "protected"), "protected", True),
        (partial(page.select_option, f"#direction-{amount}", "increase"), "direction", "increase"),
        (partial(typed, f"#range-{amount}", "1000, 5000"), "range", [1000.0, 5000.0]),
        (partial(typed, f"#steps-{amount}", "1"), "steps", [1]),
        (partial(typed, f"#weight-{amount}", "3"), "weight", 3.0),
        (partial(typed, f"#codes-{amount}", "-9"), "codes", [-9.0]),
        (partial(typed, f"#display-{amount}", "loan"), "display", "loan"),
        (partial(typed, f"#unit-{amount}", "€"), "unit", "€"),
        (partial(page.select_option, f"#split-{amount}", "no"), "split", False),
    ]
    for act, key, value in marks:
        assert after(act, "features", "credit_amount", key) == value, key
        edits = studio.problem["columns"][amount]["edits"]
        page.wait_for_function(
            "([place, text]) => document.querySelector(place)?.textContent.startsWith(text)",
            arg=[f"#edits-{amount}", f"{edits} edit"],
        )
        fault = studio.problem["fault"]
        assert fault is None, f"{key}: {fault}"
        if key in ("immutable", "protected", "range", "steps"):
            assert studio.problem["size"]["actions"] < before["actions"], key
            assert page.locator("#now .delta").first.inner_text().startswith(" (\u2212"), key
        studio.changed(lambda: page.select_option("#history", "0"))
    # Levels in an order: the focus stays with a level that moves.
    kind = after(lambda: page.select_option(f"#kind-{job}", "ordinal"), "features", "job")
    assert kind["kind"] == "ordinal"
    last = kind["levels"][-1]
    button = page.locator(f"[id='up-{job}-{last}']")
    moved = after(button.click, "features", "job", "levels")
    assert moved.index(last) == len(moved) - 2
    assert page.evaluate("document.activeElement.id") == f"up-{job}-{last}"
    moved = after(partial(page.keyboard.press, "Enter"), "features", "job", "levels")
    assert moved.index(last) == len(moved) - 3
    # Rules say how many people break them; links are made and taken away.
    page.fill("#rule-new", "duration <= 24")
    assert after(page.locator("#rule-add").click, "rules") == ["duration <= 24"]
    table = pd.read_csv(GERMAN / "german.csv")
    broken = int((table["duration"] > 24).sum())
    page.locator("#rules li").get_by_text(f"broken by {broken} people").wait_for()
    page.select_option("#link-from", "duration")
    page.select_option("#link-to", "age")
    page.fill("#link-factor", "2")
    links = after(page.locator("#link-add").click, "links")
    assert [(link["from"], link["to"], link["factor"]) for link in links] == [("duration", "age", 2)]
    after(page.get_by_role("group", name="Numbers that move together").get_by_text("Remove").click)
    assert not studio.problem["config"].get("links")
    after(page.get_by_role("button", name="Remove the rule duration <= 24").click)
    assert not studio.problem["config"].get("rules")
    # What is wrong with a rule is said.
    page.fill("#rule-new", "no_such_column <= 3")
    after(page.locator("#rule-add").click)
    assert page.locator("#rules .warn").inner_text() != ""
    assert page.locator("#solve").is_disabled()
    assert studio.complaints == []


def test_each_choice_of_a_question_is_a_setting(start: Start) -> None:
    studio = start(*FILES, "--config", GERMAN / "sogar.toml")
    page = studio.page
    page.locator("#more-settings > summary").click()
    limit(studio, "max_depth", 2)
    studio.searched(lambda: page.locator("#solve").click())
    settings = studio.problem["config"]

    def chosen(kind: str, choice: str) -> Json:
        """What a choice sets; then everything is as before."""
        studio.tab("explore")
        page.select_option("#explore-run", "1")
        studio.report_ready()
        studio.report.locator(f".{kind} > .what-if, .{kind} .what-if").first.click()
        button = page.locator("#what-if[open] .choices button").filter(has_text=choice).first
        studio.searched(button.click)
        found: Json = studio.problem["config"]["features"]
        changed = {name: one for name, one in found.items() if one != settings["features"].get(name)}
        page.locator("#price .price").wait_for()
        assert page.locator("#compare-with").input_value() == "1", "over the front of the report"
        assert "At any cost, advice" in page.locator("#price").inner_text()
        studio.changed(lambda: page.locator("#undo").click())
        assert studio.problem["config"] == settings
        return changed

    for kind, choice, key in [
        ("leaf", "Nobody is told to set", "targets"),
        ("leaf", "at all", "immutable"),
        ("leaf", "Too expensive", "weight"),
        ("question", "Not by this", "split"),
        ("question", "Protect", "protected"),
    ]:
        changed = chosen(kind, choice)
        assert len(changed) == 1, f"{choice}: {changed}"
        (name, now), *_ = changed.items()
        assert now[key] != settings["features"].get(name, {}).get(key), choice
        assert now[key] == {"immutable": True, "weight": 2.0, "split": False, "protected": True}.get(
            key, now[key]
        )
        if key == "weight":
            last = studio.state["runs"][-1]
            assert last["known"] == last["actions"], "weights change no outcome"
    assert studio.complaints == []


def test_files_dropped_on_the_page_are_opened(start: Start) -> None:
    studio = start()
    files = [[name, (GERMAN / name).read_text()] for name in ("german.csv", "model.txt", "sogar.toml")]
    # The configuration first: it says how the two are read.
    studio.page.evaluate(
        """(files) => {
            const dataTransfer = new DataTransfer();
            for (const [name, text] of files.reverse()) dataTransfer.items.add(new File([text], name));
            const drop = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
            document.getElementById('drop').dispatchEvent(drop);
        }""",
        files,
    )
    studio.page.locator("#panel-table").wait_for(state="visible")
    assert studio.problem["size"]["actions"] == 6272
    assert studio.page.locator("#files").inner_text() == "german.csv · model.txt"
    assert studio.complaints == []


def test_the_command_prints_an_address_and_ends_with_control_c() -> None:
    command: list[str | Path] = [the_binary(), "studio", *FILES, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        told = process.stdout.readline()
        assert re.fullmatch(r"The studio is at http://127\.0\.0\.1:\d+/[0-9a-f]{32}/\n", told)
        assert "Ctrl-C ends the studio" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == ""


def test_single_people_are_shown_only_on_request(start: Start) -> None:
    studio = start(*FILES, "--config", GERMAN / "sogar.toml")
    page = studio.page
    page.locator("#more-settings > summary").click()
    limit(studio, "max_depth", 1)
    studio.searched(lambda: page.locator("#solve").click())
    studio.tab("explore")
    people = studio.report.get_by_role("heading", name="Single people")
    studio.report_ready()
    assert people.count() == 0
    with page.expect_response(lambda response: "rows=yes" in response.url):
        page.locator("#explore-rows").check()
    people.wait_for(state="attached", timeout=120_000)


def test_stop_keeps_what_was_found(start: Start, many: Path) -> None:
    studio = start(many / "people.csv", "--model", many / "model.txt")
    page = studio.page
    page.locator("#more-settings > summary").click()
    limit(studio, "max_depth", 9)
    limit(studio, "min_leaf", 2)
    assert "or stop at any time" in page.locator("#now").inner_text(), "a long run is announced"
    page.get_by_role("button", name="Stop after a minute").wait_for()
    studio.changed(lambda: page.get_by_role("button", name="Trees of depth 3").click())
    studio.changed(lambda: page.locator("#undo").click())
    page.locator("#solve").click()
    page.wait_for_function(
        "() => document.querySelector('.legend')?.textContent.includes('Searching now')", timeout=60_000
    )
    page.locator(".live").get_by_text("Certified gap").wait_for(timeout=120_000)
    run = studio.searched(lambda: page.locator("#stop").click())
    assert not run["complete"]
    told = page.locator("#price")
    told.get_by_text("stopped early").wait_for()
    assert 0 < run["gap"] < 1
    assert "certified gap" in told.inner_text()


def test_people_with_keyboards_screen_readers_and_phones(start: Start) -> None:
    for dark, width in [(False, 1280), (True, 360)]:
        studio = start(*FILES, "--config", GERMAN / "sogar.toml", dark=dark, width=width)
        page = studio.page
        studio.searched(page.locator("#solve").click)
        page.locator("#tab-table").click()
        page.locator("#more-settings > summary").click()
        page.locator(f"#more-{studio.column('status')} > summary").click()
        for tab in ("files", "table", "search", "take", "explore"):
            page.locator("#tab-files").focus()
            studio.tab(tab)
            if tab == "explore":
                studio.report_ready()
            assert serious_faults(studio) == [], tab
            wide = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wide <= 0, f"{tab} scrolls sideways at {width}"
        studio.tab("table")
        cut = (
            "[...document.querySelectorAll('#columns > li')].filter((li) => li.scrollWidth > li.clientWidth)"
        )
        assert page.evaluate(f"{cut}.length") == 0, f"something is cut at {width}"
        studio.tab("explore")
        # The question about a piece of advice is a dialog that Escape closes.
        studio.report.locator(".leaf .what-if").first.focus()
        page.keyboard.press("Enter")
        page.locator("#what-if .choices button").first.wait_for()
        assert serious_faults(studio) == []
        page.keyboard.press("Escape")
        assert not page.locator("#what-if").is_visible()
        page.locator("#tab-take").focus()
        page.keyboard.press("ArrowLeft")
        assert page.evaluate("document.activeElement.id") == "tab-explore"
        assert studio.complaints == []
        assert studio.ended() == 0
