// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorManifest

/// One answer of a simulated operation: the calls that get it, what it keeps, and what it returns.
struct OperationAnswer: Sendable {
    /// The operation as the file names it; once a manifest is known, its label there.
    var operation: String
    /// The members that the arguments must have; nil for any arguments.
    var arguments: JSONValue?
    /// How many calls get this answer; nil for all.
    var times: Int?
    /// How long to delay the answer.
    var delay = Duration.zero
    /// The record that must exist; `record` refers to it.
    var read: RecordReference?
    /// The record that must exist and is removed; `record` refers to it.
    var remove: RecordReference?
    /// The collection that `records` refers to.
    var list: JSONTemplate?
    /// The record that is kept.
    var keep: Kept?
    /// How the call ends.
    var outcome: Outcome
    /// Where the answer is in its text; nil before a manifest is known.
    var place: FilePosition?

    /// Where a record is: its collection, and its key there.
    struct RecordReference: Sendable {
        var collection: JSONTemplate
        var key: JSONTemplate

        /// The names of the collection and the record.
        func filled(_ values: JSONTemplate.Values) throws(ConnectorError) -> (collection: String, key: String) {
            (try collection.text(values), try key.text(values))
        }
    }

    /// A record to keep; it replaces an earlier one with the same key.
    struct Kept: Sendable {
        var record: RecordReference
        var value: JSONTemplate
    }

    /// How a call ends.
    enum Outcome: Sendable {
        case result(JSONTemplate)
        case failure(SimulatedFailure)
    }

    /// Every template, to check the references in it.
    var templates: [JSONTemplate] {
        var templates = [read, remove, keep?.record].compactMap(\.self).flatMap { [$0.collection, $0.key] }
        templates += [list, keep?.value].compactMap(\.self)
        switch outcome {
        case .result(let template): templates.append(template)
        case .failure(let failure): templates.append(failure.message)
        }
        return templates
    }
}

extension OperationAnswer {
    /// The same answer, with the label of the operation that a call of this name reaches, the arguments that one passes, and its place.
    func labelled(by manifest: Manifest, at place: FilePosition?) -> OperationAnswer {
        guard let (capability, operation) = manifest.operation(named: self.operation) else { return self }
        var answer = self
        answer.place = place
        answer.operation = manifest.capabilities.label(of: operation.name, in: capability.id)
        answer.arguments = arguments.map(operation.signature.passed)
        return answer
    }

    /// Whether this answer matches a call, apart from the records that it needs.
    ///
    /// - Parameter label: The label of the operation in its manifest.
    func matches(_ label: String, _ arguments: JSONObject) -> Bool {
        operation == label && (self.arguments?.isContained(in: .object(arguments)) ?? true)
    }

    /// Adds the records that the answer needs to `values`; false if one is missing.
    func finds(in records: SimulatedRecords, _ values: inout JSONTemplate.Values) throws(ConnectorError) -> Bool {
        for place in [read, remove] {
            guard let (collection, key) = try place?.filled(values) else { continue }
            guard let record = records[collection, key] else { return false }
            values["record"] = record
        }
        return true
    }

    /// Changes the records and makes the answer.
    func given(
        _ records: inout SimulatedRecords,
        _ values: JSONTemplate.Values
    ) throws(ConnectorError) -> StandIn.Answer {
        var values = values
        if let (collection, key) = try remove?.filled(values) { records.remove(collection, key) }
        if let keep { values["record"] = try records.keep(keep, values) }
        if let list { values["records"] = .array(records.all(in: try list.text(values))) }
        switch outcome {
        case .result(let template):
            return StandIn.Answer(.success(try template.filled(values)), delay: delay, place: place)
        case .failure(let failure): return StandIn.Answer(.failure(try failure.filled(values)), delay: delay)
        }
    }
}

extension Signature {
    /// The numbers among the arguments in the precision in which a call passes them: 0.1 is another number as an `f32`.
    fileprivate func passed(_ arguments: JSONValue) -> JSONValue {
        guard var members = arguments.object else { return arguments }
        for parameter in parameters where parameter.type == .f32 {
            guard let number = members[parameter.name]?.number else { continue }
            members[parameter.name] = .number(Double(Float(number)))
        }
        return .object(members)
    }
}
