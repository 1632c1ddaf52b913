# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
"""What a user sees and does in a browser, from the link that the program prints to a dead letter that is replayed.

Usage: suite.py [TEST…]
"""

import json
import os
import signal
import socket
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


def act(browser, name):
    """Performs an act as another page does."""
    browser.run_async(
        """const done = arguments[arguments.length - 1];
           const body = new URLSearchParams({at: location.pathname, act: arguments[0], confirmed: "yes"});
           fetch("/-/act", {method: "POST", body, headers: {Accept: "text/plain"}}).then((answer) => done(answer.status));""",
        name,
    )


def feed(browser):
    """Puts the test in the place of the host's stream."""
    browser.wait_for("live", "#live")
    browser.run(
        """window.EventSource = class extends EventTarget {
             constructor() { super(); window.stream = this; }
             close() {}
           };
           dispatchEvent(new Event("pagehide"));
           dispatchEvent(new Event("pageshow"));"""
    )


def send(browser, *operations):
    """Sends changes of the page in place of the host, and waits until they are drawn."""
    browser.run_async(
        """const done = arguments[arguments.length - 1];
           stream.onmessage({lastEventId: "1", data: JSON.stringify(arguments[0])});
           requestAnimationFrame(() => requestAnimationFrame(() => done()));""",
        operations,
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


def test_a_host_that_hangs_is_not_shown_as_live(browser, console, vendors):
    browser.open(console.root + "/plugins")
    browser.wait_for("live", "#live")
    console.process.send_signal(signal.SIGSTOP)
    try:
        browser.wait_for("no answer since 20", "#live")
        expect(browser.text("#live").endswith("Z"), "the time is UTC, as all times of the page")
        expect(not browser.run("return document.querySelector('#readiness').checkVisibility()"), "nothing is said to be ready")
        expect("grayscale" in browser.run("return getComputedStyle(document.querySelector('#scene')).filter"), "nothing is green")
    finally:
        console.process.send_signal(signal.SIGCONT)
    browser.wait_for("live", "#live")


def test_a_page_without_a_place_among_the_watched_says_so(browser, console, vendors):
    token, port = console.next_link().split("token=")[1], int(console.root.rsplit(":", 1)[1])
    request = f"GET /-/live?at=/dead HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n"
    others, refused = [], []

    def watch():
        """Whether there is a place for another stream."""
        other = socket.create_connection(("127.0.0.1", port), timeout=30)
        other.sendall(request.encode())
        answer = b""
        while b"data: " not in answer and b" 503 " not in answer:
            read = other.recv(1 << 16)
            expect(read, f"the host closes the connection: {answer[:200]}")
            answer += read
        (others if b"data: " in answer else refused).append(other)
        return b"data: " in answer

    def is_full():
        while len(others) < 256 and watch():
            pass
        return len(others) == 256

    browser.open("about:blank")
    try:
        # The page that was left gives up its place soon.
        browser.wait("every place is taken", is_full)
        browser.open(console.root + "/gates")
        browser.wait_for("256 others are open", "#live")
    finally:
        for other in others + refused:
            other.close()
    browser.wait_for("live", "#live")


def test_a_page_is_left_for_good_by_its_button(browser, console, vendors):
    browser.open(console.root + "/gates")
    browser.click("footer button")
    browser.wait_for("Follow the link that the program printed")
    browser.open(console.root + "/gates")
    browser.wait_for("Follow the link that the program printed")


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


def test_no_page_is_wider_than_a_narrow_window(browser, console, vendors):
    browser.emulate("light", 320, 800)
    for page in PAGES:
        browser.open(console.root + page)
        browser.run("document.getElementById('search').hidden = false")
        width = browser.run("return document.documentElement.scrollWidth")
        expect(width <= 320, f"{page} has {width} pixels in a window of 320")


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


def test_the_focus_stays_with_its_letter_and_goes_to_no_other(browser, console, vendors):
    vendors.put("segment:status=400,path=/v1/batch", "segment:status=400,path=/v1/track")
    for user in ("u1", "u2", "u3"):
        console.command("send", "segment", "track", "event=Seen", f"userId={user}")
    browser.open(console.root + "/dead")
    browser.wait_for("3 dead letters")
    first, second, _ = browser.run(
        "return [...document.querySelectorAll('td.acts button[value^=drop]')].map((button) => button.value)"
    )
    browser.run("document.querySelector(`button[value='${arguments[0]}']`).focus()", second)
    act(browser, first)
    browser.wait_for("2 dead letters")
    expect(browser.run("return document.activeElement.value") == second, "the focus is on the same letter")
    act(browser, second)
    browser.wait_for("1 dead letter")
    expect(browser.run("return document.activeElement.getAttribute('role')") == "region", "the focus is on the list")


def test_the_focus_goes_to_no_act_that_comes_in_place_of_another(browser, console, vendors):
    browser.open(console.root + "/gates/kinto")
    browser.wait_for("live", "#live")
    browser.run("document.querySelector('#scene-acts button[value^=retry]').focus()")
    act(browser, "close gate kinto")
    browser.wait_for("Open", "#scene-acts")
    expect(browser.run("return document.activeElement.id") == "main", "the focus is on no button")
    browser.tab_to("open kinto")


def test_a_form_that_has_changed_takes_over_what_was_entered(browser, console, vendors):
    browser.open(console.root + "/gates/geocoder/operations/geocode")
    feed(browser)
    html = browser.run("return document.getElementById('scene').innerHTML")
    browser.type("#f0", "Brandenburg Gate")
    browser.type("#f2", "3")
    send(browser, ["fill", "scene", html])
    expect(browser.run("return document.activeElement.id") == "f2", "the focus stays in its field")
    expect(browser.run("return document.getElementById('f0').value") == "Brandenburg Gate", "what was written stays")
    name = browser.attribute("#f0", "name")
    send(browser, ["fill", "scene", html.replace(f'name="{name}"', 'name="f.place"')])
    expect(browser.attribute("#f0", "name") == "f.place", "the form is the new one")
    expect(browser.run("return ['f0', 'f2'].map((id) => document.getElementById(id).value)") == ["", "3"],
           "what was written stays where it has a field")
    browser.wait_for("the form has changed", "#toast")


def test_a_log_stays_where_its_reader_has_scrolled_it(browser, console, vendors):
    def log(first, count):
        lines = "".join(f"<li>line {number}</li>" for number in range(first, first + count))
        return f'<section id="c0"><ol data-rows role="log" tabindex="0" aria-label="Events">{lines}</ol></section>'

    def position():
        return browser.run(
            """const log = document.querySelector("[role=log]");
               return [log.scrollTop, log.scrollHeight - log.scrollTop - log.clientHeight];"""
        )

    browser.open(console.root + "/events")
    feed(browser)
    send(browser, ["fill", "scene", log(0, 100)])
    expect(position()[1] < 4, "a new log begins at its newest line")
    send(browser, ["insert", 0, 100, "<li>line 100</li>"])
    expect(position()[1] < 4, "a log at its end stays there")
    browser.run("document.querySelector('[role=log]').scrollTop = 200")
    send(browser, ["insert", 0, 101, "<li>line 101</li>"])
    expect(position()[0] == 200, "a new line does not move what is being read")
    send(browser, ["fill", "scene", log(0, 103)])
    expect(position()[0] == 200, "neither does a new list")


def test_the_plan_says_what_it_would_change_and_when_it_was_made(browser, console, vendors):
    browser.open(console.root + "/plan")
    browser.wait("the plan is shown", lambda: "ago" in browser.text("#scene"))


def test_the_name_of_a_page_and_its_search_come_with_its_contents(browser, console, vendors):
    browser.open(console.root + "/gates/kinto")
    feed(browser)
    send(browser, ["title", "Nothing here"], ["show", "search"])
    expect(browser.text("h1") == "Nothing here", "the heading changes")
    expect(browser.run("return document.title") == "Nothing here · connector-host", "the tab of the browser does, too")
    expect(browser.run("return document.getElementById('q').checkVisibility()"), "the search is there")
    table = '<div role="region" tabindex="0" aria-label="2 letters, table"><table><caption>2 letters</caption></table></div>'
    send(browser, ["fill", "scene", f'<section id="c0"><h2>2 letters</h2>{table}</section>'], ["name", 0, "1 letter"])
    names = "return [...document.querySelectorAll('#c0 h2, #c0 caption')].map((name) => name.textContent)"
    expect(browser.run(names) == ["1 letter", "1 letter"], "the table has its new name")
    expect(browser.attribute("#c0 div", "aria-label") == "1 letter, table", "so has its region")


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
        expect("this page does not update. It shows 20" in browser.text("main"), f"{page} says when it was made")
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
