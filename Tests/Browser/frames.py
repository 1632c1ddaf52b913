# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
"""How evenly Chromium draws a console whose gates change all the time, beside a page of it that does not change.

Usage: frames.py LINK SECONDS ROUNDS

Prints a line for each round, of the page that changes and then of the one that does not: the time that 99 of 100 frames are below,
the longest frame, and the processor time that the page's thread took in a second, in nanoseconds; then how many tasks of that
thread took more than 50 ms.
"""

import sys

from webdriver import Browser, Failure

FRAMES = """
const [seconds, done] = arguments;
const frames = [];
let [tasks, changes, last] = [0, 0, performance.now()];
new PerformanceObserver((list) => { tasks += list.getEntries().length; }).observe({ type: "longtask" });
new MutationObserver((list) => { changes += list.length; }).observe(
  document.body, { childList: true, subtree: true, characterData: true });
const end = last + seconds * 1000;
const step = () => {
  const now = performance.now();
  frames.push(now - last);
  last = now;
  if (now < end) requestAnimationFrame(step);
  else done({ frames, tasks, changes });
};
requestAnimationFrame(step);
"""


def look(browser, url, seconds):
    """Loads a page and watches it. Returns what is printed about it, and how often it changed."""
    browser.open(url)
    browser.wait("the page is live", lambda: browser.attribute("#live", "data-state") == "live")
    before = browser.thread_time()
    seen = browser.run_async(FRAMES, seconds)
    spent = (browser.thread_time() - before) / seconds
    frames = sorted(seen["frames"])
    if len(frames) < 10:
        raise Failure(f"{url}: {len(frames)} frames in {seconds} s")
    times = [frames[len(frames) * 99 // 100] * 1e6, frames[-1] * 1e6, spent * 1e9]
    return [round(time) for time in times] + [seen["tasks"]], seen["changes"]


def main(link, seconds, rounds):
    root = link.split("/?")[0]
    with Browser() as browser:
        browser.open(link)
        browser.wait_for("500 of 1000 open", "#readiness")
        for _ in range(rounds):
            at_rest, _ = look(browser, root + "/configuration", seconds)
            live, changes = look(browser, root + "/gates", seconds)
            # Ten of the rows in view, once a second: far fewer changes than there are.
            if changes < seconds * 10:
                raise Failure(f"of a thousand gates that change all the time, the page shows {changes} changes in {seconds} s")
            print(*live, *at_rest, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
