# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
"""The program under test, and the vendors that it talks to."""

import json
import os
import re
import signal
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("CONNECTOR_HOST", os.path.join(ROOT, ".build", "debug", "connector-host"))


class Process:
    """A process that prints where it can be reached."""

    def __init__(self, *arguments, directory=None):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=self.log, text=True, cwd=directory
        )

    def line(self, pattern):
        """What a pattern finds in the next line that it matches."""
        for line in self.process.stdout:
            if found := re.search(pattern, line):
                return found.group(1)
        self.log.seek(0)
        raise RuntimeError(f"no line matches {pattern}:\n{self.log.read()}")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=30)
        self.log.close()


class Vendors(Process):
    """The vendors of the tests: a process of its own, which can be stopped and started again on the same port."""

    def __init__(self, port=0):
        super().__init__("simulate", "--port", str(port))
        self.port = int(self.line(r"http://127\.0\.0\.1:(\d+)/_received"))

    def put(self, *faults):
        """Sets the faults, in place of those before."""
        arguments = [word for fault in faults for word in ("--fault", fault)]
        subprocess.run(
            [PROGRAM, "simulate", "--into", str(self.port), *arguments], check=True, stdout=subprocess.DEVNULL
        )


class Console(Process):
    """A host that runs, and its console."""

    def __init__(self, vendors, *arguments):
        self.directory = tempfile.TemporaryDirectory()
        url = f"http://127.0.0.1:{vendors.port}"

        def leaf(name, **config):
            return {"name": name, "plugin": name, "probe": "200ms", "config": config,
                    "heal": {"initial": "200ms", "max": "400ms"}}

        configuration = {
            "version": 1,
            "plugins": [os.path.join(ROOT, "Plugins")],
            "state": "state",
            "connectors": [
                leaf("segment", endpoint=f"{url}/segment", writeKey="demo-write-key"),
                {
                    "name": "geocoder", "policy": "first", "connectors": [
                        leaf("nominatim", endpoint=f"{url}/nominatim", userAgent="tests/1.0 (mailto:you@example.com)"),
                        leaf("google", endpoint=f"{url}/google", key="AIza-demo-key"),
                    ],
                },
                leaf("kinto", endpoint=f"{url}/kinto/v1", bucket="demo", username="demo", password="demo-password"),
            ],
        }
        with open(os.path.join(self.directory.name, "connectors.json"), "w", encoding="utf-8") as file:
            json.dump(configuration, file)
        super().__init__("run", "--console", "127.0.0.1:0", *arguments, directory=self.directory.name)
        self.link = self.line(r"^console: (\S+)")
        self.root = self.link.split("/?")[0]

    def command(self, *arguments):
        """Runs another command on the same file."""
        return subprocess.run(
            [PROGRAM, *arguments], cwd=self.directory.name, capture_output=True, text=True, check=True
        ).stdout

    def next_link(self):
        """The link for another browser."""
        return self.line(r"another browser: (\S+)")

    def stop(self):
        super().stop()
        self.directory.cleanup()
