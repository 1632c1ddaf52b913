// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// A manifest that has everything.
let completeManifest = """
    {
      "manifest": 1,
      "id": "segment",
      "version": "1.2.3-beta.1",
      "abi": [1, 2],
      "entry": "segment_plugin",
      "documentation": "Analytics.",
      "language": "c",
      "thread": "serial",
      "capabilities": {
        "analytics/1": { "track": { "symbol": "segment_track", "signature": "(event:json)async" } },
        "own/3": { "add": { "symbol": "add", "signature": "(a: i32, b: i32) -> i32", "documentation": "Adds." } }
      },
      "configuration": {
        "endpoint": { "type": "url", "default": "https://api.segment.io/v1" },
        "writeKey": { "type": "string", "required": true, "secret": true, "documentation": "The key." },
        "batch": { "type": "integer", "minimum": 1, "maximum": 100, "values": [1, 10, 100], "default": 10 },
        "free": {}
      },
      "services": { "required": ["http/1"], "optional": ["log/1", "clock/1"] },
      "egress": ["{endpoint}", "cdn.segment.com"],
      "swiftType": "Segment",
      "$comment": "passes"
    }
    """

/// The problems of the manifest that has everything, once it is changed.
func problems(_ changes: (inout JSONObject) -> Void) throws -> [String] {
    var object = try #require(try JSONValue(parsing: completeManifest).object)
    changes(&object)
    return Manifest.read(JSONValue.object(object).utf8(), file: "m").problems.map { problem in
        "\(problem.message) [\(problem.code)]" + (problem.fix.map { "; \($0)" } ?? "")
    }
}
