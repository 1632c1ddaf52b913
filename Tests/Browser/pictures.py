# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of the page that README and docs show.

Usage: pictures.py DIRECTORY
"""

import os
import subprocess
import sys

from programs import PROGRAM, Process
from webdriver import Browser

PICTURES = [
    ("console-light", "/gates", "light", 1200, 800),
    ("console-dark", "/gates/geocoder/google", "dark", 1200, 840),
    ("console-phone", "/gates", "light", 390, 800),
]


def main(directory):
    os.makedirs(directory, exist_ok=True)
    console = Process("run", "--simulate", "--console", "127.0.0.1:0", "--config", "connectors.json")
    try:
        link = console.line(r"^console: (\S+)")
        port = console.line(r"--into (\d+)")
        root = link.split("/?")[0]
        with Browser() as browser:
            browser.open(link)
            browser.wait_for("ready: 8 of 8 open", "#readiness")
            # Calls for the charts to show, some of which fail.
            browser.open(root + "/gates/geocoder/google/operations/geocode")
            browser.wait_for("Call geocode")
            for second in range(40):
                if second in (22, 29):
                    fault = ["--fault", "google:status=503,path=/maps/api/geocode"] if second == 22 else []
                    subprocess.run([PROGRAM, "simulate", "--into", port, *fault], check=True, stdout=subprocess.DEVNULL)
                browser.run_async(
                    """const [count, done] = arguments;
                       const fields = new URLSearchParams(new FormData(document.querySelector("form.call")));
                       fields.set("f.request.query", "Brandenburg Gate");
                       for (let left = count; left > 0; left--)
                         fetch("/-/call", {method: "POST", body: fields, headers: {Accept: "text/plain"}});
                       setTimeout(done, 1000);""",
                    2 + second * 7 % 5,
                )
            subprocess.run(
                [PROGRAM, "simulate", "--into", port, "--fault", "posthog:status=503"], check=True,
                stdout=subprocess.DEVNULL,
            )
            browser.open(root + "/gates")
            browser.wait_for("degraded")
            for name, path, scheme, width, height in PICTURES:
                browser.emulate(scheme, width, height)
                browser.open(root + path)
                browser.wait("the page is live", lambda: browser.attribute("#live", "data-state") == "live")
                browser.picture(os.path.join(directory, name + ".png"))
    finally:
        console.stop()
    # Eight bits per pixel show as much, where a program to reduce the colors is installed.
    subprocess.run(
        ["sh", "-c", "command -v pngquant > /dev/null && pngquant --force --ext .png --quality 70-95 \"$0\"/*.png || true",
         directory], check=True,
    )


if __name__ == "__main__":
    main(sys.argv[1])
