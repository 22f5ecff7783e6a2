"""The studio as somebody without a terminal meets it: load, mark, search, forbid, compare, save."""

from __future__ import annotations

import json
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from report_page import Json, browser, sogar
from running import GERMAN, Sogar
from studio_page import Start, Studio, many, start

FILES = [GERMAN / "german.csv", "--model", GERMAN / "model.txt"]


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


def ask_what_if(studio: Studio) -> str:
    """Forbids the first piece of advice of the shown report; gives the label of the choice."""
    studio.tab("explore")
    studio.report.locator("html[data-ready=yes]").wait_for(timeout=120_000)
    studio.report.locator(".leaf .what-if").first.click()
    choice = studio.page.locator("#what-if .choices button").first
    label = choice.inner_text()
    choice.click()
    return label


def test_the_whole_story_on_german_credit(start: Start, sogar: Sogar, tmp_path: Path) -> None:
    studio = start(*FILES, "--config", GERMAN / "sogar.toml")
    page = studio.page
    # See and mark.
    assert page.locator("#columns > li").count() == 20
    edits = studio.problem["size"]["edits"]
    mark(studio, "duration", "fixed")
    assert studio.problem["size"]["edits"] < edits
    assert "edits" in page.locator("#now").inner_text()
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
    # Save: the command line gives the same.
    studio.tab("take")
    (tmp_path / "sogar.toml").write_bytes(studio.saved(".take a[href$='sogar.toml']"))
    saved = studio.saved(".take a[href$='front.json']")
    commands = page.locator("#commands").inner_text().splitlines()
    assert commands[0].startswith("sogar solve ")
    assert "--config sogar.toml" in commands[0]
    sogar("solve", *FILES, "--config", tmp_path / "sogar.toml", "-o", tmp_path / "front.json", "--quiet")
    assert without_run(saved) == without_run((tmp_path / "front.json").read_bytes())
    assert b"<!doctype html>" in studio.saved(".take a[href$='report.html']")[:40].lower()
    # Everything came from the studio's own address, and nothing complained.
    own = studio.address.rsplit("/", 2)[0]
    assert {url for url in studio.requests if not url.startswith((own, "blob:", "data:"))} == set()
    assert studio.complaints == []
    assert studio.ended() == 0


def test_a_table_of_twenty_thousand_people_with_odd_names(
    start: Start, many: Path, sogar: Sogar, tmp_path: Path
) -> None:
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
    studio.tab("take")
    (tmp_path / "sogar.toml").write_bytes(studio.saved(".take a[href$='sogar.toml']"))
    saved = studio.saved(".take a[href$='front.json']")
    front = tmp_path / "front.json"
    sogar(
        "solve",
        many / "people.csv",
        "--model",
        many / "model.txt",
        "--config",
        tmp_path / "sogar.toml",
        "-o",
        front,
        "--quiet",
    )
    assert without_run(saved) == without_run(front.read_bytes())
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
    # Constraints that leave no action.
    for column in studio.problem["columns"]:
        if column["edits"]:
            mark(studio, column["name"], "fixed")
    assert "no feature can be changed" in page.locator("#now").inner_text()
    assert page.locator("#solve").is_disabled()
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


def test_a_killed_server_is_noticed(start: Start) -> None:
    studio = start(*FILES)
    studio.process.kill()
    studio.page.locator("#trouble").get_by_text("does not answer any more").wait_for(timeout=30_000)


def test_stop_keeps_what_was_found(start: Start, many: Path) -> None:
    studio = start(many / "people.csv", "--model", many / "model.txt")
    page = studio.page
    page.locator("#more-settings > summary").click()
    limit(studio, "max_depth", 9)
    limit(studio, "min_leaf", 2)
    assert "or stop at any time" in page.locator("#now").inner_text(), "a long run is announced"
    page.locator("#solve").click()
    page.wait_for_function(
        "document.querySelector('.legend')?.textContent.includes('Searching now')", timeout=60_000
    )
    run = studio.searched(lambda: page.locator("#stop").click())
    assert not run["complete"]
    told = page.locator("#price")
    told.get_by_text("stopped early").wait_for()
    assert run["gap"] is None or "certified gap" in told.inner_text()


def test_people_with_keyboards_screen_readers_and_phones(start: Start) -> None:
    for dark, width in [(False, 1280), (True, 390)]:
        studio = start(*FILES, "--config", GERMAN / "sogar.toml", dark=dark, width=width)
        page = studio.page
        studio.searched(page.locator("#solve").click)
        for tab in ("files", "table", "search", "take"):
            page.locator("#tab-files").focus()
            studio.tab(tab)
            found = Axe().run(page, options={"resultTypes": ["violations"]})
            serious = [
                one for one in found.response["violations"] if one["impact"] in ("serious", "critical")
            ]
            assert serious == [], (tab, [(one["id"], one["nodes"][0]["html"]) for one in serious])
            wide = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wide <= 0, f"{tab} scrolls sideways at {width}"
        page.locator("#tab-take").focus()
        page.keyboard.press("ArrowLeft")
        assert page.evaluate("document.activeElement.id") == "tab-explore"
        assert studio.complaints == []
        assert studio.ended() == 0
