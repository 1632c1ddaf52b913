// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

/// What people are told about the capabilities' models, and how what they write is read.
@Suite struct ModelMemberTests {
    /// The operations of the project's capabilities whose model has members.
    static let operations = CapabilityDefinition.all.flatMap { definition in
        definition.operations.map { (definition.id, $0.name) }
    }.filter { !ModelMember.members(of: $0.1, in: $0.0).isEmpty }
    /// Those whose model has required members.
    static let demanding = operations.filter { ModelMember.members(of: $0.1, in: $0.0).contains(where: \.isRequired) }

    /// A value that fits a member.
    private func value(of member: ModelMember) throws -> JSONValue {
        switch member.kind {
        case .text where member.name == "timestamp": "2026-01-31T09:30:00Z"
        case .text where ["from", "to"].contains(member.name): "2026-01-31T09:30:00Z"
        case .text where member.name == "id": "0123456789abcdef0123456789abcdef"
        case .text: .string(member.example.isEmpty ? "x" : member.example)
        case .number: 7
        case .boolean: .bool(member.name == "ifAbsent")
        case .choice(let words): .string(words[0])
        case _ where !member.example.isEmpty: try JSONValue(parsing: member.example)
        default: member.name == "breadcrumbs" ? [["message": "clicked"]] : ["k": ["v": 1]]
        }
    }

    /// What a model writes after it has read an object.
    private func written(_ object: JSONObject, as operation: String, in id: String) throws -> JSONValue {
        switch id {
        case "analytics/1":
            try AnalyticsEvent(json: .object(object), as: AnalyticsEvent.Kind(rawValue: operation)).json
        case "crash/1":
            try CrashReport(json: .object(object), as: operation == "message" ? .message : .exception).json
        case "database/1": try DatabaseQuery(json: .object(object)).json
        case "geocoder/1":
            operation == "reverse"
                ? try ReverseRequest(json: .object(object)).json : try GeocodeRequest(json: .object(object)).json
        case "sensor/1": try SensorRange(json: .object(object)).json
        case "files/1": try FileUploadRequest(json: .object(object)).json
        default: throw ConnectorError(.failed, "the capability \(id) has no model here")
        }
    }

    @Test(arguments: operations) func `a model reads the sample of its members`(_ id: String, _ operation: String)
        throws
    {
        let members = ModelMember.members(of: operation, in: id)
        let sample = try #require(ModelMember.sample(of: members).object)
        let json = try written(sample, as: operation, in: id)
        for name in sample.names { #expect(json[name] != nil, "\(name)") }
        for member in members where member.isRequired { #expect(sample[member.name] != nil, "\(member.name)") }
        let schema = ModelMember.schema(of: members)
        #expect(schema["properties"]?.object?.names == members.map(\.name))
    }

    @Test(arguments: operations) func `a model reads its members, and writes no others`(
        _ id: String,
        _ operation: String
    ) throws {
        let members = ModelMember.members(of: operation, in: id)
        #expect(Set(members.map(\.name)).count == members.count)
        var object = JSONObject()
        // Each of these excludes another.
        for member in members where !["address", "ifTag"].contains(member.name) {
            object[member.name] = try value(of: member)
        }
        let json = try written(object, as: operation, in: id)
        let known = Set(members.map(\.name))
        for member in try #require(json.object).members where member.name != "type" {
            #expect(known.contains(member.name), "\(member.name) is not listed")
        }
        for name in object.names { #expect(json[name] != nil, "\(name) is lost") }
    }

    @Test(arguments: demanding) func `a model refuses an object without a required member`(
        _ id: String,
        _ operation: String
    ) throws {
        let members = ModelMember.members(of: operation, in: id).filter(\.isRequired)
        for missing in members {
            var object: JSONObject = id == "analytics/1" ? ["anonymousId": "a"] : [:]
            for member in members where member != missing { object[member.name] = try value(of: member) }
            #expect(throws: ConnectorError.self, "\(missing.name)") {
                switch id {
                case "analytics/1":
                    _ = try AnalyticsEvent(json: .object(object), as: AnalyticsEvent.Kind(rawValue: operation))
                case "crash/1":
                    _ = try CrashReport(json: .object(object), as: operation == "message" ? .message : .exception)
                case "sensor/1": _ = try SensorRange(json: .object(object))
                case "files/1": _ = try FileUploadRequest(json: .object(object))
                default: _ = try ReverseRequest(json: .object(object))
                }
            }
        }
    }

    @Test(arguments: operations) func `the schema of a model accepts the kinds of values that the model reads`(
        _ id: String,
        _ operation: String
    ) throws {
        let members = ModelMember.members(of: operation, in: id)
        let schema = SchemaCheck(schema: ModelMember.schema(of: members))
        func check(_ object: JSONObject) throws {
            let isRead = (try? written(object, as: operation, in: id)) != nil
            #expect(try schema.faults(in: .object(object)).isEmpty == isRead, "\(JSONValue.object(object))")
        }
        var least = JSONObject()
        for member in members where member.isRequired { least[member.name] = try value(of: member) }
        let others: [JSONValue] = [
            "x", 7, true, ["x": "x"], ["x": ["x": "x"]], ["x": 7], ["CH"], [["x"]], [["x": "x"]], [7],
        ]
        for member in members {
            var object = least
            // The model needs one of two members.
            for other in members where other.alternative != nil && other.name != member.name {
                let isReplaced = other.alternative == member.name || other.excludesAlternative
                object[isReplaced ? other.alternative ?? "" : other.name] = "x"
            }
            object[member.name] = try value(of: member)
            try check(object)
            // The schema has no formats of texts.
            for value in others where value.string == nil || !member.kind.isText {
                object[member.name] = value
                try check(object)
            }
        }
        try check(least)
    }

    @Test func `every comparison of a query is described`() {
        let conditions = ModelMember.members(of: "query", in: "database/1").first { $0.name == "where" }?.kind.inner
        #expect(conditions?.path == ".NAME")
        #expect(conditions?.members.map(\.name) == DatabaseQuery.Comparison.allCases.map(\.rawValue))
    }

    @Test func `the schema of a query refuses a list without values, as the query does`() throws {
        let schema = SchemaCheck(schema: ModelMember.schema(of: ModelMember.members(of: "query", in: "database/1")))
        for (list, isRead) in [([], false), ([1], true)] as [(JSONValue, Bool)] {
            let query: JSONValue = ["where": ["city": ["in": list]]]
            #expect(try schema.faults(in: query).isEmpty == isRead)
            #expect(((try? DatabaseQuery(json: query)) != nil) == isRead)
        }
    }

    @Test func `only the operations that the standard capabilities mark as lossy lose something`() {
        let losing = CapabilityDefinition.all.flatMap(\.operations).filter { $0.loss != nil }.map(\.name)
        #expect(losing == ["replace", "delete", "remove", "completeUpload", "remove", "copy"])
    }
}
