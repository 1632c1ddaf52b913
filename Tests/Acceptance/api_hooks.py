# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# What schemathesis is told about the host in api.sh: names that exist, so that requests get beyond "there is no such connector".

import os

import schemathesis

CONNECTORS = ["math", "analytics", "analytics/segment"]
OPERATIONS = ["add", "divide", "upper", "echo", "track", "nothing"]
ARGUMENTS = {"add": {"a": 1, "b": 2}, "divide": ["1", "b=0"], "upper": ["x"], "echo": {"value": [None]}}


def known(text, names):
    """One of some names, or the text itself; always the same for the same text."""
    choices = names + [text]
    return choices[sum(text.encode("utf-8", "replace")) % len(choices)]


def is_text(value):
    return isinstance(value, str) and value != ""


@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict):
        for name, names in (("connector", CONNECTORS), ("operation", OPERATIONS)):
            if is_text(body.get(name)):
                body[name] = known(body[name], names)
        if body.get("connector") == "math" and body.get("operation") in ARGUMENTS:
            body["arguments"] = ARGUMENTS[body["operation"]]
    return body


@schemathesis.hook
def map_query(context, query):
    if isinstance(query, dict) and is_text(query.get("connector")):
        query["connector"] = known(query["connector"], CONNECTORS)
    return query


@schemathesis.hook
def map_path_parameters(context, parameters):
    if isinstance(parameters, dict) and is_text(parameters.get("id")):
        parameters["id"] = known(parameters["id"], [os.environ["API_EVENT"]])
    return parameters
