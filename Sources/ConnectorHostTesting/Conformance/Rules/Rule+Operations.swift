// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities
internal import ConnectorHost
internal import ConnectorManifest
internal import ConnectorPlatform

/// Operations of an open gate, called by their signatures.
extension PluginConformance.Rule {
    static let operationRules: [Self] = [
        operationsAnswer, operationsOften, operationsConcurrent, operationsCancelled, operationsAfterReopen,
        capability, deliverAnswers, recordedCalls, fuzz, fuzzConfiguration,
    ]

    static let operationsAnswer: Self = Self(
        "operations-answer",
        level: 6,
        .operations,
        "Operations answer what their signatures say",
        expects: "Each operation, called with plain values, completes with a result of its type, or an error.",
        fix: "compare the function with its signature in the manifest: see connector/operation.h",
        needs: .gate
    ) { run in
        try await each(run) { gate, name, operation in
            try await call(name, plain(operation.signature), gate, run, operationsAnswer)
        }
    }

    static let operationsOften: Self = Self(
        "operations-repeat",
        level: 6,
        .operations,
        "Operations can be called again",
        expects: "Fifty calls of an operation end as the first one did, or with an error that explains itself.",
        fix: "free what a call used when it completes",
        needs: .gate
    ) { run in
        try await each(run) { gate, name, operation in
            for _ in 0..<50 { try await call(name, plain(operation.signature), gate, run, operationsOften) }
        }
    }

    static let operationsConcurrent: Self = Self(
        "operations-concurrent",
        level: 6,
        .operations,
        "Operations run concurrently",
        expects: "Sixteen calls at once complete; a plugin that cannot do that says \"thread\": \"serial\".",
        fix: "guard the instance with a lock, or say \"thread\": \"serial\" in the manifest",
        needs: .gate
    ) { run in
        try await each(run) { gate, name, operation in
            let arguments = plain(operation.signature)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    group.addTask { try? await call(name, arguments, gate, run, operationsConcurrent) }
                }
            }
        }
    }

    static let operationsCancelled: Self = Self(
        "operations-cancel",
        level: 7,
        .operations,
        "Calls can be cancelled",
        expects: "After calls that were cancelled or timed out, the gate answers, and nothing completes twice.",
        fix: "forget a call when it is cancelled",
        needs: .gate
    ) { run in
        try await each(run) { gate, name, operation in
            guard operation.signature.isAsync else { return }
            let arguments = plain(operation.signature)
            for _ in 0..<8 {
                // Under way before it is cancelled: the host itself refuses the call of a task that is cancelled already.
                let task = Task.immediate { try await gate.client.call(name, arguments) }
                task.cancel()
                _ = await task.result
            }
            var options = CallOptions()
            options.timeout = .zero
            _ = try? await gate.client.call(name, arguments, options: options)
            try await call(name, arguments, gate, run, operationsCancelled)
        }
    }

    static let operationsAfterReopen: Self = Self(
        "operations-reopen",
        level: 6,
        .operations,
        "A gate that was closed and opened again answers",
        expects: "After close and open, an operation ends as it did before.",
        fix: "keep state in the instance, not in static variables",
        needs: .gate
    ) { run in
        let gate = try await run.gate()
        // Prefer one that only reads: its outcome does not depend on the call before.
        guard let (capability, operation) = gate.callable.first(where: \.operation.isSafe) ?? gate.callable.first else {
            throw RuleStop.inapplicable(noOperations)
        }
        let name = gate.name(capability, operation)
        let arguments = plain(operation.signature)
        let first = await outcome(name, arguments, gate)
        try await gate.host.close("plugin")
        try await gate.host.open("plugin")
        let second = await outcome(name, arguments, gate)
        if first != second {
            run.report(operationsAfterReopen, "\(name) answered \(first), and after reopening \(second)")
        }
    }

    /// The operations follow the contract of their standard capability.
    public static let capability: Self = Self(
        "payloads",
        level: 6,
        .operations,
        "Payloads fit the models of standard capabilities",
        expects: "Places, records, settings, readings and files have the form of their models.",
        fix: "compare the result with the one that connector-host reference capabilities shows",
        needs: .gate
    ) { run in
        let gate = try await run.gate()
        var tried = 0
        for capability in gate.manifest.capabilities where CapabilityDefinition.standard(capability.id) != nil {
            do throws(ConnectorError) {
                guard try await readModel(of: capability, gate) else { continue }
                tried += 1
            } catch {
                tried += 1
                if error.code == .misbehaved || error.code == .crashed {
                    run.report(Self.capability, "\(capability.id): \(error.message)")
                }
            }
        }
        if tried == 0 { throw RuleStop.inapplicable("there is no operation of a standard capability that only reads") }
    }

    /// Reads something through the client of a capability, which checks the answer; false if there is nothing to read.
    private static func readModel(of capability: Capability, _ gate: ConformanceGate) async throws(ConnectorError)
        -> Bool
    {
        let names = Set(capability.operations.map(\.name))
        switch capability.id.name {
        case "geocoder" where names.contains("geocode"):
            _ = try await gate.host.geocoder("plugin").geocode(GeocodeRequest(.text("Berlin")))
        case "database" where names.contains("query"):
            _ = try await gate.host.database("plugin").query(in: "conformance")
        case "settings" where names.contains("list"): _ = try await gate.host.settings("plugin").list()
        case "sensor" where names.contains("latest"): _ = try await gate.host.sensor("plugin").latest()
        case "files" where names.contains("list"): _ = try await gate.host.files("plugin").list()
        default: return false
        }
        return true
    }

    static let deliverAnswers: Self = Self(
        "deliver",
        level: 6,
        .operations,
        "deliver answers for each event",
        expects: "deliver completes with one answer for each element: accepted, rejected or retry.",
        fix: "answer with an array of the same length, as connector-host reference capabilities shows",
        needs: .gate
    ) { run in
        let gate = try await run.gate()
        let delivering = gate.manifest.capabilities.compactMap { capability in batch(of: capability, gate) }
        guard !delivering.isEmpty else { throw RuleStop.inapplicable("there is no deliver that may be called") }
        for (name, parameter, elements, isStandard) in delivering {
            run.trace.add("call \(name)")
            let answer: JSONValue
            do throws(ConnectorError) {
                answer = try await gate.client.call(name, [parameter: .array(elements)])
            } catch {
                // A plugin may refuse the elements of an operation of its own, which this rule can only guess.
                let faults: [ConnectorError.Code] =
                    isStandard ? [.misbehaved, .crashed, .invalid, .syntax, .missing] : [.misbehaved, .crashed]
                if faults.contains(error.code) { run.report(deliverAnswers, "\(name): \(error.message)") }
                continue
            }
            do throws(ConnectorError) {
                guard answer.array?.count == elements.count else {
                    let text = answer.description.excerpt
                    run.report(deliverAnswers, "\(name) of \(elements.count) elements answered \(text)")
                    continue
                }
                _ = try DeliveryAnswer.answers(json: answer, count: elements.count)
            } catch {
                run.report(deliverAnswers, "\(name): \(error.message)")
            }
        }
    }

    /// A batch of three elements for the `deliver` of a capability; nil if it has none that may be called.
    private static func batch(
        of capability: Capability,
        _ gate: ConformanceGate
    ) -> (name: String, parameter: String, elements: [JSONValue], isStandard: Bool)? {
        guard let deliver = capability.operations.first(where: { $0.name == "deliver" }) else { return nil }
        let name = gate.name(capability, deliver)
        switch capability.id.name {
        case "analytics": return (name, "events", (1...3).map(event), true)
        case "crash": return (name, "reports", (1...3).map(report), true)
        default:
            // Batches of events have this form.
            guard gate.isSimulated, deliver.signature.isAsync, deliver.signature.results.map(\.type) == [.json],
                let parameter = deliver.signature.onlyJSON,
                let operation = capability.operations.first(where: \.isDelivered)
            else { return nil }
            let arguments = plain(operation.signature)
            let element = operation.signature.onlyJSON.map { arguments[$0] ?? [:] } ?? .object(arguments)
            return (name, parameter, Array(repeating: element, count: 3), false)
        }
    }

    private static func event(_ number: Int) -> JSONValue {
        [
            "type": "track", "event": "Conformance", "messageId": .string("conformance-\(number)"),
            "userId": "conformance",
            "timestamp": "2026-01-01T00:00:00.000Z", "operation": "track", "id": .string("conformance-\(number)"),
        ]
    }

    private static func report(_ number: Int) -> JSONValue {
        [
            "type": "message", "message": "Conformance", "level": "info", "id": .string("conformance-\(number)"),
            "timestamp": "2026-01-01T00:00:00.000Z", "operation": "message",
        ]
    }

    static let fuzz: Self = Self(
        "fuzz-operations",
        level: 7,
        .operations,
        "Operations survive any values of their types",
        expects:
            "Operations that get generated values, edges among them, complete with a result of their type or an error.",
        fix: "check arguments before use; the seed repeats the values",
        needs: .gate
    ) { run in
        try await each(run) { gate, name, operation in
            var generator = ValueGenerator(seed: run.options.seed, name: name)
            for _ in 0..<max(1, run.options.runs) {
                try await call(name, generator.arguments(for: operation.signature), gate, run, fuzz)
            }
        }
    }

    static let fuzzConfiguration: Self = Self(
        "fuzz-configuration",
        level: 7,
        .operations,
        "create survives any configuration of the fields' types",
        expects:
            "create takes or refuses generated texts, numbers and JSON in the fields, and the instance can be destroyed.",
        fix: "check the values before use; the seed repeats them",
        needs: .image
    ) { run in
        let fields = try run.manifest().configuration
        guard !fields.isEmpty else { throw RuleStop.inapplicable("there are no fields") }
        let bench = try await run.bench(hasVendor: false)
        var generator = ValueGenerator(seed: run.options.seed, name: "configuration")
        for _ in 0..<max(1, run.options.runs) {
            var config = JSONObject()
            for field in fields { config[field.name] = generator.value(for: field) }
            let creation = try await bench.create(JSONValue.object(config).utf8(), isWrong: true)
            if creation.leftInstance { run.report(createLeavesNothing, "create failed, but left an instance") }
            if creation.status == 0 { try await bench.destroy(creation.instance) }
        }
    }

    // MARK: Calls

    private static let noOperations =
        "there is no operation that may be called: with a simulated vendor all, otherwise safe ones"

    private static func each(
        _ run: RuleRun,
        _ body: (ConformanceGate, String, Operation) async throws -> Void
    ) async throws {
        let gate = try await run.gate()
        guard !gate.callable.isEmpty else { throw RuleStop.inapplicable(noOperations) }
        for (capability, operation) in gate.callable {
            try await body(gate, gate.name(capability, operation), operation)
        }
    }

    /// Calls an operation, and reports an outcome that no plugin may have.
    private static func call(
        _ name: String,
        _ arguments: JSONObject,
        _ gate: ConformanceGate,
        _ run: RuleRun,
        _ rule: Self
    ) async throws {
        run.trace.add("call \(name) \(JSONValue.object(arguments).description.prefix(2000))")
        var options = CallOptions()
        options.timeout = run.options.timeout
        do throws(ConnectorError) {
            _ = try await gate.client.call(name, arguments, options: options)
        } catch {
            guard [.misbehaved, .crashed, .timedOut].contains(error.code) else { return }
            let what = JSONValue.object(arguments).description.excerpt
            run.report(rule, "\(name) with \(what): \(error.message) [\(error.code)]")
            // A gate whose process is gone no longer answers.
            if error.code == .crashed { throw RuleStop.found }
        }
    }

    private static func outcome(_ name: String, _ arguments: JSONObject, _ gate: ConformanceGate) async -> String {
        do throws(ConnectorError) {
            _ = try await gate.client.call(name, arguments)
            return "a result"
        } catch {
            return "the error \(error.code)"
        }
    }

    /// Plain values for every required parameter.
    static func plain(_ signature: Signature) -> JSONObject {
        var arguments = JSONObject()
        for parameter in signature.parameters where parameter.direction == .in && !parameter.isOptional {
            arguments[parameter.name] =
                switch parameter.type {
                case .string, .cstring, .bytes, .bytes32: "example"
                case .json: [:]
                case .f32, .f64: .number(1)
                case .handle: .null
                default: 1
                }
        }
        return arguments
    }
}

extension ValueGenerator {
    /// A value of a field's type that the host might pass.
    fileprivate mutating func value(for field: ConfigurationField) -> JSONValue {
        if field.isSecret { return .string("{{secret:\(field.name)}}") }
        let value: JSONValue =
            switch field.type {
            case .string, .path: value(of: .string)
            case .integer: value(of: .i64)
            case .number: value(of: .f64)
            case .boolean: .bool(value(of: .u8).integer.map { $0 % 2 == 0 } ?? false)
            case .url: .string("http://127.0.0.1:1/")
            case .duration: "1s"
            case .json: value(of: .json)
            }
        return field.problem(with: value) == nil ? value : field.defaultValue ?? field.allowedValues.first ?? value
    }
}
