// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorManifest

/// A file of answers: it takes the place of a vendor or of a whole plugin, and says what happens meanwhile.
///
/// ```json
/// {
///   "version": 1,
///   "answers": [{ "path": "/v1/ping", "json": { "ok": true } }],
///   "operations": [
///     { "operation": "create", "keep": { "in": "notes", "key": "${args.id}", "value": "${args.record}" }, "result": "${record}" },
///     { "operation": "get", "read": { "in": "notes", "key": "${args.id}" }, "result": "${record}" },
///     { "operation": "get", "error": { "code": "missing", "message": "there is no such note" } }
///   ],
///   "timeline": [{ "every": "1s", "event": { "name": "reading", "payload": { "number": "${count}" } } }]
/// }
/// ```
///
/// `answers` are those of the vendor's HTTP API: see ``RecordedAnswers``. Those of a recording are `exact`, and its `time` stands
/// still. `operations` replace a plugin of which there is only the manifest. `timeline` is what happens without a call, on the
/// clock of the host.
package struct SimulatedWorld: Sendable {
    /// The answers to HTTP requests; nil if the file has none.
    package let answers: RecordedAnswers?
    /// The answers to calls, in file order; nil if the file simulates no interface.
    private(set) var operations: [OperationAnswer]?
    /// What happens without a call, in file order.
    private(set) var timeline: [TimelineEntry]
    /// The time of day that the plugin reads on its clock, which stands still; nil for the host's.
    package let time: Timestamp?
    /// The calls of a recording, each with its result or error, to check that they still end the same way.
    package let calls: [SimulatedCall]
    /// The text of the file, for the positions of faults that only a manifest reveals.
    private let text: JSONText
    /// Where the answers are in the text.
    private let root: JSONPath

    /// The members that the file may have.
    private static let members = ["version", "exact", "time", "answers", "calls", "operations", "timeline"]
    /// The version of the format.
    package static let formatVersion: Int64 = 1

    /// Whether the file takes the place of a whole plugin.
    package var hasOperations: Bool { operations != nil }

    /// The name of the file that has the answers.
    var file: String { text.file }

    /// Whether anything happens without a call.
    package var hasTimeline: Bool { !timeline.isEmpty }

    /// All faults of a file.
    package struct Faults: Error {
        /// The faults in file order; never empty.
        package let errors: [ConnectorError]

        /// Creates an error from at least one fault.
        package init(errors: [ConnectorError]) {
            self.errors = errors
        }
    }

    /// Reads a file.
    package init(parsing text: [UInt8], file: String) throws(Faults) {
        let value: JSONValue
        do throws(ConnectorError) {
            value = try JSONValue(document: text, file: file)
        } catch {
            throw Faults(errors: [error])
        }
        try self.init(value, at: JSONPath(), in: JSONText(text, file: file))
    }

    /// Reads an object that is part of a text.
    ///
    /// - Parameter root: Where the object is in the text.
    package init(_ value: JSONValue, at root: JSONPath, in text: JSONText) throws(Faults) {
        var reader = JSONReader([text])
        reader.origin = root
        let object = reader.members(of: value, at: root, allowed: Self.members)
        let members = object ?? JSONObject()
        if object != nil {
            let known = Self.formatVersion
            _ = reader.integer("version", in: members, at: root, required: true, within: known...known)
            if members["answers"] == nil, members["operations"] == nil, members["timeline"] == nil {
                reader.report(
                    .missingValue,
                    "nothing is answered: there is no \"answers\", \"operations\" or \"timeline\"",
                    at: root
                )
            }
        }
        let isExact = reader.bool("exact", in: members, at: root) ?? false
        let kind = "a time from 1970 to 2500, such as \"2026-01-31T09:30:00Z\""
        time = reader.string("time", in: members, at: root, kind: kind) { Timestamp(parsing: $0) }
        calls = reader.calls(in: members, at: root)
        answers = reader.answers(in: members, at: root, isExact: isExact)
        operations = reader.operations(in: members, at: root)
        timeline = reader.timeline(in: members, at: root)
        reader.check(members["timeline"], members["operations"] != nil, members["answers"] != nil, at: root)
        (self.text, self.root) = (text, root)
        guard reader.problems.isEmpty else { throw Faults(errors: reader.problems) }
    }

    /// The faults that the manifest of the simulated plugin reveals; empty if there are none.
    package func faults(with manifest: Manifest) -> [ConnectorError] {
        var reader = JSONReader([text])
        reader.origin = root
        reader.check(operations ?? [], manifest, at: root)
        for (index, entry) in timeline.enumerated() {
            reader.check(entry.operations ?? [], manifest, at: root.appending("timeline").appending(index))
        }
        return reader.problems
    }

    /// The same answers, for the plugin of a manifest that reveals no faults in them.
    package func labelled(by manifest: Manifest) -> SimulatedWorld {
        var reader = JSONReader([text])
        func labelled(_ answers: [OperationAnswer]?, at place: JSONPath) -> [OperationAnswer]? {
            answers?.enumerated().map { index, answer in
                let here = place.appending("operations").appending(index)
                return answer.labelled(by: manifest, at: reader.position(of: here))
            }
        }
        var world = self
        world.operations = labelled(operations, at: root)
        for index in timeline.indices {
            let place = root.appending("timeline").appending(index)
            world.timeline[index].operations = labelled(timeline[index].operations, at: place)
        }
        return world
    }
}
