# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
"""Evaluates an expression over the last answer: `answer.py expect|take FOLDER EXPRESSION`. See harness.sh for the names."""

import json
import os
import sys


def read(name):
    with open(f"{folder}/{name}", encoding="utf-8") as file:
        return file.read()


command, folder, expression = sys.argv[1:]
text, messages = read("answer"), read("messages")
try:
    answer = json.loads(text)
except ValueError:
    answer = None
document = answer if isinstance(answer, dict) else {}
result = document.get("result")
error = (document.get("errors") or [{}])[0]
code = error.get("code")
status = int(os.environ["status"])
var = os.environ


def gate(path):
    gate = next(gate for gate in answer["gates"] if gate["path"] == path)
    # Only a gate that opens has a runner.
    if gate["state"] == "open" and gate.get("isolation", "none") != var["CONNECTOR_ISOLATION"]:
        raise ValueError(f"{path} is not where it should be: {gate.get('isolation', 'none')}")
    return gate


def evidence(path):
    return [item["kind"] for item in gate(path).get("evidence", [])]


try:
    value, problem = eval(expression), None
except (AttributeError, KeyError, IndexError, StopIteration, TypeError, ValueError) as caught:
    value, problem = None, caught

if command == "take":
    print("" if value is None else value)
elif not value:
    print(f"    expected: {expression}\n    status:   {status}\n    answer:   {text.strip()}", file=sys.stderr)
    print(f"    messages: {messages.strip()}", file=sys.stderr)
    if problem:
        print(f"    problem:  {type(problem).__name__}: {problem}", file=sys.stderr)
    sys.exit(1)
