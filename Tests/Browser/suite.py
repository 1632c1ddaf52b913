# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
"""What a user sees and does in a browser, from the link that the program prints to a dead letter that is replayed.

Usage: suite.py [TEST…]
"""

import json
import os
import sys
import time
import traceback

from programs import ROOT, Console, Vendors
from webdriver import Browser, Failure

AXE = os.path.join(ROOT, ".build", "browser", "axe.min.js")
PAGES = ["/gates", "/gates/segment", "/gates/geocoder/google/operations/geocode", "/outbox", "/dead", "/events",
         "/plugins", "/plugins/segment", "/configuration"]


def expect(condition, what):
    if not condition:
        raise Failure(what)


def row(browser, name):
    """The text of a gate's row, whatever other rows say."""
    return browser.run(
        """for (const row of document.querySelectorAll("tbody tr"))
             if (row.querySelector("th")?.textContent.includes(arguments[0])) return row.innerText;
           return "";""",
        name,
    )


def test_a_vendor_that_stops_is_red_and_one_that_starts_is_green(browser, console, vendors):
    browser.wait_for("ready: 4 of 4 open", "#readiness")
    browser.run("window.loaded = 'once'")
    vendors.put("segment:status=503")
    browser.wait("segment is red", lambda: "failed" in row(browser, "segment"))
    browser.wait_for("not ready", "#readiness")
    expect(browser.run("return !!document.querySelector('tr.r-bad .mark.m-bad')"), "the mark has its shape")
    vendors.put()
    browser.wait("segment is green", lambda: "open" in row(browser, "segment"))
    browser.wait_for("ready: 4 of 4 open", "#readiness")
    expect(browser.run("return window.loaded") == "once", "the page was not loaded again")


def test_all_vendors_stop_and_start(browser, console, vendors):
    browser.wait_for("ready: 4 of 4 open", "#readiness")
    port = vendors.port
    vendors.stop()
    browser.wait("every gate is red", lambda: all("failed" in row(browser, name) for name in ("segment", "kinto")))
    again = Vendors(port)
    try:
        browser.wait_for("ready: 4 of 4 open", "#readiness")
    finally:
        again.stop()


def test_a_stream_that_was_refused_comes_back(browser, console, vendors):
    browser.wait_for("live", "#live")
    browser.run(
        """const Source = EventSource;
           let count = 0;
           window.EventSource = class extends Source {
             constructor(url) { super(count++ > 0 ? url : "/-/nowhere"); }
           };
           dispatchEvent(new Event("pagehide"));
           dispatchEvent(new Event("pageshow"));"""
    )
    browser.wait_for("no answer since", "#live")
    expect(not browser.run("return document.querySelector('#readiness').checkVisibility()"), "nothing is said to be ready")
    browser.wait_for("live", "#live")
    expect(browser.run("return document.querySelector('#readiness').checkVisibility()"), "the readiness is back")


def test_a_page_that_is_logged_out_says_how_to_come_back(browser, console, vendors):
    browser.wait_for("live", "#live")
    browser.run("fetch('/-/leave', {method: 'POST'})")
    browser.wait_for("Follow the link that the program printed", "#live")
    expect(browser.attribute("#live", "role") == "status", "a screen reader says it, too")


def test_what_is_said_is_said_to_all(browser, console, vendors):
    vendors.put("google:status=503")
    browser.wait_for("geocoder/google is", "#toast")
    expect(browser.attribute("#toast", "role") == "status", "changes are read out politely")


def test_a_dead_letter_is_replayed(browser, console, vendors):
    vendors.put("segment:status=400,path=/v1/batch", "segment:status=400,path=/v1/track")
    console.command("send", "segment", "track", "event=Seen", "userId=u1")
    browser.open(console.root + "/dead")
    browser.wait_for("1 dead letter")
    vendors.put()
    browser.click("td.acts button[value^=replay]")
    browser.wait_for("replayed 1 dead letter", "#toast")
    browser.wait_for("no dead letters")


def test_an_operation_is_called_by_its_form(browser, console, vendors):
    browser.open(console.root + "/gates/geocoder/operations/geocode")
    browser.type("#f2", "many")
    browser.click("form.call button")
    browser.wait("what is wrong is said", lambda: browser.attribute("#f2", "aria-invalid") == "true")
    expect(browser.run("return document.activeElement.id") == "f2", "the focus is on it")
    browser.type("#f2", "3")
    browser.type("#f0", "Brandenburg Gate")
    browser.click("form.call button")
    browser.wait_for("Last call")
    browser.wait_for("Berlin")
    expect(browser.run("return document.activeElement.textContent") == "Call geocode", "the focus stays")
    expect(browser.run("return document.getElementById('f0').value") == "Brandenburg Gate", "what was written stays")
    browser.open(console.root + "/gates/geocoder")
    browser.wait_for("Calls per second")


def test_a_form_is_sent_once_whatever_is_pressed_twice(browser, console, vendors):
    def is_answered():
        return not browser.run("return !!document.querySelector('form.call [aria-busy]')")

    browser.open(console.root + "/gates/geocoder/operations/geocode")
    browser.type("#f0", "Brandenburg Gate")
    browser.run(
        """const fetched = window.fetch;
           window.sent = 0;
           window.fetch = (...request) => {
             window.sent += 1;
             return fetched(...request);
           };
           const button = document.querySelector("form.call .send");
           button.click();
           button.click();"""
    )
    expect(browser.run("return window.sent") == 1, "a call that has no answer yet is not made again")
    browser.wait("it is answered", is_answered)
    browser.click_again("form.call .send", 1)
    browser.wait("it is answered", is_answered)
    browser.click_again("form.call .send", 2)
    expect(browser.run("return window.sent") == 2, "the second click of a double click is none of its own")
    browser.wait("it is answered", is_answered)
    browser.run("document.getElementById('f0').focus()")
    browser.hold_enter(False)
    browser.wait("it is answered", is_answered)
    browser.hold_enter(True)
    expect(browser.run("return window.sent") == 3, "a key that is held down is pressed once")


def test_a_long_name_leaves_room_for_the_proof(browser, console, vendors):
    browser.emulate("light", 900, 900)
    browser.open(console.root + "/gates")
    browser.wait_for("ready: 4 of 4 open", "#readiness")
    proof, page, window = browser.run(
        """for (const name of document.querySelectorAll("tbody th a")) name.textContent = "x".repeat(60);
           return [document.querySelector("tbody td:nth-last-child(2)").getBoundingClientRect().width,
                   document.documentElement.scrollWidth, innerWidth];"""
    )
    expect(proof >= 200, f"the proof has {proof} pixels")
    expect(page <= window, f"the page has {page} pixels in a window of {window}")


def test_a_question_comes_before_a_loss(browser, console, vendors):
    browser.open(console.root + "/gates/kinto")
    browser.click("#scene-acts button[value^=close]")
    browser.wait_for("Its calls fail until it is opened again", "dialog")
    expect(browser.focused() == "No, go back", "what is safe has the focus")
    browser.press("Enter")
    browser.wait("the question is gone", lambda: not browser.run("return document.querySelector('dialog').open"))
    browser.click("#scene-acts button[value^=close]")
    browser.click("dialog button[value=yes]")
    browser.wait_for("kinto is closed", "#toast")
    browser.wait_for("Open", "#scene-acts")
    browser.click("#scene-acts button[value^=open]")
    browser.wait_for("kinto is open", "#toast")


def test_two_questions_are_asked_one_after_the_other(browser, console, vendors):
    browser.open(console.root + "/gates/kinto")
    browser.run(
        """const fetched = window.fetch;
           window.answers = 0;
           window.fetch = async (...request) => {
             const answer = await fetched(...request);
             window.answers += 1;
             return answer;
           };
           const close = document.querySelector("#scene-acts button[value^=close]");
           close.click();
           close.click();"""
    )
    browser.wait("both acts need an answer", lambda: browser.run("return window.answers") == 2)
    browser.wait_for("Its calls fail until it is opened again", "dialog")
    browser.click("dialog button[value=no]")
    browser.wait("the second question is asked", lambda: browser.run("return document.querySelector('dialog').open"))
    browser.click("dialog button[value=yes]")
    browser.wait_for("kinto is closed", "#toast")
    browser.wait("no button waits", lambda: not browser.run("return !!document.querySelector('[aria-busy]')"))


def test_a_field_may_have_the_name_of_a_property_that_every_object_has(browser, console, vendors):
    browser.open(console.root + "/gates/geocoder/operations/geocode")
    browser.run("document.getElementById('f0').name = 'f.constructor'")
    browser.type("#f2", "many")
    browser.click("form.call button")
    browser.wait("what is wrong is said", lambda: browser.attribute("#f2", "aria-invalid") == "true")
    expect(browser.attribute("#f0", "aria-invalid") is None, "the other field is not marked")


def test_the_keyboard_alone_is_enough(browser, console, vendors):
    browser.open(console.root + "/gates")
    browser.press("Tab")
    expect(browser.focused() == "Skip to the content", "the first stop leads to the content")
    browser.press("Enter")
    browser.tab_to("segment")
    browser.press("Enter")
    browser.wait("the gate is shown", lambda: browser.url().endswith("/gates/segment"))
    browser.tab_to("close segment")
    browser.press("Enter")
    browser.wait_for("Close segment?", "dialog")
    browser.press("Escape")
    browser.wait("the focus is back", lambda: browser.focused() == "close segment")
    browser.tab_to("Copy")
    browser.open(console.root + "/plugins")
    browser.tab_to("Search in Plugins")
    browser.press("kinto", "Enter")
    browser.wait("one plugin is left", lambda: "segment" not in browser.text("tbody"))


def test_the_focus_stays_while_the_page_changes(browser, console, vendors):
    browser.open(console.root + "/gates")
    browser.tab_to("retry segment")
    vendors.put("segment:status=503")
    browser.wait("segment is red", lambda: "failed" in row(browser, "segment"))
    expect(browser.focused() == "retry segment", f"the focus is on {browser.focused()!r}")


def test_a_row_out_of_sight_changes_soon_or_as_it_comes_into_sight(browser, console, vendors):
    browser.emulate("light", 1280, 60)
    browser.open(console.root + "/gates")
    browser.wait("the page is live", lambda: browser.attribute("#live", "data-state") == "live")
    expect(browser.run("return document.querySelector('tbody').getBoundingClientRect().top > innerHeight * 1.5"),
           "the rows are out of sight")
    vendors.put("segment:status=503", "kinto:status=503")
    browser.wait("segment is red", lambda: "failed" in row(browser, "segment"))
    browser.wait("kinto is red", lambda: "failed" in row(browser, "kinto"))
    browser.run("document.querySelector('tbody tr:last-child').scrollIntoView()")
    vendors.put()
    browser.wait("both are green", lambda: all("open" in row(browser, name) for name in ("segment", "kinto")))


def test_nothing_is_refused_by_the_policy_or_fails(browser, console, vendors):
    browser.run("return 1")
    for page in PAGES:
        browser.open(console.root + page)
        browser.wait("the page is live", lambda: browser.attribute("#live", "data-state") == "live")
        found = browser.run(
            """return [...document.querySelectorAll("[style], [onclick]")].length
                 + performance.getEntriesByType("resource").filter((one) => !one.name.startsWith(location.origin)).length"""
        )
        expect(found == 0, f"{page} has no styles of its own, and nothing from elsewhere")


def test_axe_finds_nothing_serious(browser, console, vendors):
    with open(AXE, encoding="utf-8") as file:
        axe = file.read()
    vendors.put("segment:status=400,path=/v1/batch", "google:status=503")
    console.command("send", "segment", "track", "event=Seen", "userId=u1")
    browser.open(console.root + "/dead")
    browser.wait_for("1 dead letter")
    found = []
    for scheme in ("light", "dark"):
        browser.emulate(scheme)
        for page in PAGES:
            browser.open(console.root + page)
            browser.run(axe)
            violations = browser.run_async(
                """const done = arguments[arguments.length - 1];
                   axe.run(document, {resultTypes: ["violations"]}).then((result) => done(result.violations.map((one) =>
                     [one.id, one.impact, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))])));"""
            )
            found += [[scheme, page, *one] for one in violations if one[1] in ("serious", "critical")]
    expect(not found, "\n".join(json.dumps(one) for one in found))


def without_script_everything_is_read_and_done(browser, console, vendors):
    def is_ready():
        browser.open(console.root + "/gates")
        return "ready: 4 of 4 open" in browser.text("#readiness")

    browser.wait("every gate is open", is_ready)
    for page in PAGES:
        browser.open(console.root + page)
        expect(browser.text("h1") != "", f"{page} has a heading")
    browser.open(console.root + "/gates/kinto")
    browser.click("#scene-acts button[value^=close]")
    browser.wait_for("Its calls fail until it is opened again", "main")
    browser.click("button.danger")
    browser.wait_for("kinto is closed", ".message")
    browser.click("#scene-acts button[value^=open]")
    browser.wait_for("kinto is open", ".message")
    browser.open(console.root + "/gates/geocoder/operations/geocode")
    browser.type("#f0", "Brandenburg Gate")
    browser.type("#f2", "many")
    browser.click("form.call button")
    browser.wait("what is wrong is said", lambda: browser.attribute("#f2", "aria-invalid") == "true")
    browser.type("#f2", "3")
    browser.click("form.call button")
    browser.wait_for("Berlin")
    browser.open(console.root + "/plugins")
    browser.type("#q", "kinto")
    browser.click("form[role=search] button")
    browser.wait("one plugin is left", lambda: "segment" not in browser.text("tbody"))


def main(names):
    tests = [name for name in globals() if name.startswith("test_")]
    failures = 0
    chosen = [name for name in tests + ["without_script_everything_is_read_and_done"]
              if not names or any(word in name for word in names)]
    for name in chosen:
        if "axe" in name and not os.path.exists(AXE):
            print(f"skipped: {name}: there is no axe-core; make browser gets it")
            continue
        start = time.monotonic()
        vendors = Vendors()
        try:
            console = Console(vendors)
            try:
                with Browser(script=not name.startswith("without_script")) as browser:
                    browser.open(console.link)
                    expect("token" not in browser.url(), "the token is not in the URL any more")
                    globals()[name](browser, console, vendors)
                print(f"passed: {name} ({time.monotonic() - start:.1f} s)", flush=True)
            finally:
                console.stop()
        except Exception as error:  # pylint: disable=broad-except
            failures += 1
            print(f"failed: {name}: {error}", flush=True)
            if not isinstance(error, Failure):
                traceback.print_exc()
        finally:
            vendors.stop()
    print(f"{'failed' if failures else 'passed'}: {len(chosen) - failures} of {len(chosen)} tests in the browser")
    return 1 if failures or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
