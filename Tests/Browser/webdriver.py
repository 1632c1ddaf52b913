# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
"""The WebDriver protocol over HTTP, as far as the tests of the page need it."""

import base64
import json
import re
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Space": " ", "Shift": "\ue008"}


class Failure(Exception):
    """Something that the page does not show, or that the browser cannot do."""


class Browser:
    """One Chromium without a window, with a profile of its own."""

    def __init__(self, script=True, width=1280, height=900):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        port = None
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                port = found.group(1)
                break
        if port is None:
            raise Failure("chromedriver does not start")
        self.base = f"http://127.0.0.1:{port}"
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            f"--window-size={width},{height}", "--force-device-scale-factor=1", "--lang=en",
        ]
        options = {"args": arguments}
        if not script:
            options["prefs"] = {"profile.managed_default_content_settings.javascript": 2}
        session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
        self.base += "/session/" + session["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._call("DELETE", "")
        except (Failure, OSError):
            pass
        self.driver.terminate()
        self.driver.wait()

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise Failure(json.load(error)["value"]["message"].split("\n")[0]) from None

    # What a user does.

    def open(self, url):
        self._call("POST", "/url", {"url": url})

    def press(self, *keys):
        """Presses keys, one after the other; names of keys, or texts."""
        actions = []
        for key in keys:
            for character in KEYS.get(key, key):
                actions += [{"type": "keyDown", "value": character}, {"type": "keyUp", "value": character}]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def click(self, selector):
        self._call("POST", f"/element/{self._find(selector)}/click", {})

    def type(self, selector, text):
        element = self._find(selector)
        self._call("POST", f"/element/{element}/clear", {})
        self._call("POST", f"/element/{element}/value", {"text": text})

    def click_again(self, selector, count):
        """Clicks as the first, second, … of several clicks in quick succession."""
        x, y = self.run(
            """const element = document.querySelector(arguments[0]);
               element.scrollIntoView({block: "center"});
               const box = element.getBoundingClientRect();
               return [box.x + box.width / 2, box.y + box.height / 2];""",
            selector,
        )
        for kind in ("mousePressed", "mouseReleased"):
            event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": count}
            self._devtools("Input.dispatchMouseEvent", event)

    def hold_enter(self, is_repeat):
        """Presses Enter without releasing it, or holds it until the keyboard repeats it."""
        key = {"type": "keyDown", "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
        self._devtools("Input.dispatchKeyEvent", key | {"autoRepeat": is_repeat})

    def tab_to(self, text, limit=120):
        """Presses Tab until the element with this name has the focus."""
        for _ in range(limit):
            self.press("Tab")
            if self.focused() == text:
                return
        raise Failure(f"the tabulator does not lead to {text!r}")

    # What a user sees.

    def _find(self, selector):
        return self._call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def text(self, selector="body"):
        return self._call("GET", f"/element/{self._find(selector)}/text")

    def attribute(self, selector, name):
        return self._call("GET", f"/element/{self._find(selector)}/attribute/{name}")

    def url(self):
        return self._call("GET", "/url")

    def focused(self):
        """The name of the element that has the focus."""
        element = self._call("GET", "/element/active")[ELEMENT]
        return self._call("GET", f"/element/{element}/computedlabel")

    def wait(self, what, condition, seconds=30):
        """Looks until a condition holds."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                if value := condition():
                    return value
            except Failure:
                pass
            if time.monotonic() > deadline:
                raise Failure(f"{what}: not within {seconds} s; the page says:\n{self.text()[:3000]}")
            time.sleep(0.05)

    def wait_for(self, text, selector="body"):
        return self.wait(f"{text!r} in {selector}", lambda: text in self.text(selector))

    def run(self, script, *arguments):
        """Runs a script of the test in the page."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        return self._call("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def emulate(self, scheme="light", width=None, height=None):
        """Sets the user's preferred colors, and the size of the window."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._devtools("Emulation.setEmulatedMedia", {"features": features})
        if width:
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            self._devtools("Emulation.setDeviceMetricsOverride", size)

    def thread_time(self):
        """The processor time that the page's thread has taken, in seconds."""
        self._devtools("Performance.enable", {"timeDomain": "threadTicks"})
        metrics = self._devtools("Performance.getMetrics", {})["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def _devtools(self, command, parameters):
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._call("GET", "/screenshot")))
