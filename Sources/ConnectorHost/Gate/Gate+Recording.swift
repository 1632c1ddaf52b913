// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities
internal import ConnectorInvocation
internal import ConnectorManifest
internal import ConnectorPlatform
internal import ConnectorServices
internal import Synchronization

/// Recorded calls.
extension Gate {
    /// Makes a call of an operation, and records how it ended.
    ///
    /// - Parameters:
    ///   - body: Makes the call.
    ///   - json: The answer as it is recorded; nil for none.
    func recorded<Answer>(
        _ name: String,
        _ arguments: CallArguments,
        _ body: () async throws(ConnectorError) -> Answer,
        json: (Answer) -> JSONValue?
    ) async throws(ConnectorError) -> Answer {
        guard let target = planned.withLock(\.recording), let manifest,
            let definition = manifest.operation(named: name),
            !definition.capability.id.isUpload(definition.operation.name),
            let given = arguments.json(for: definition.operation.signature)
        else { return try await body() }
        let operation = manifest.capabilities.label(of: definition.operation.name, in: definition.capability.id)
        let leftOut = dependencies.services.responsesLeftOut(at: target)
        func end(_ result: Result<JSONValue, ConnectorError>) -> GateCallEnd {
            GateCallEnd(operation: operation, arguments: given, result: result, leftOutBefore: leftOut)
        }
        do throws(ConnectorError) {
            let answer = try await body()
            if let value = json(answer) {
                await record(end(.success(value)), at: target)
            }
            return answer
        } catch {
            // An error that says nothing about the vendor does not belong in a recorded case.
            if ![.cancelled, .timedOut, .notOpen, .misbehaved, .crashed].contains(error.code) {
                await record(end(.failure(error)), at: target)
            }
            throw error
        }
    }

    private func record(_ call: GateCallEnd, at target: RecordingTarget) async {
        let written = OneShot<Void>()
        dependencies.services.callbacks.run { [dependencies, logger] in
            dependencies.services.record(call, at: target, dependencies.redactor, logger: logger)
            written.send()
        }
        await written.wait()
    }
}

extension CapabilityID {
    /// Whether an operation is a step of an upload, which a case cannot make again: its id is another one each time.
    fileprivate func isUpload(_ operation: String) -> Bool {
        description == "files/1" && FileUpload.operations.contains(operation)
    }
}

extension CallArguments {
    /// The arguments as JSON, by name; nil if one is a handle, which means nothing to another process.
    fileprivate func json(for signature: Signature) -> JSONObject? {
        let inputs = signature.parameters.filter { $0.direction == .in }
        guard !(inputs.map(\.type) + signature.results.map(\.type)).contains(.handle) else { return nil }
        switch storage {
        case .json(let object): return object
        case .positional(let values): return JSONObject(zip(inputs, values).map { ($0.name, $1.json) })
        case .encoded(let values):
            var object = JSONObject()
            for input in inputs {
                guard let value = values.first(where: { $0.name == input.name })?.value, value != .none else {
                    continue
                }
                guard let json = try? value.json(as: input.type, handles: nil) else { return nil }
                object[input.name] = json
            }
            return object
        }
    }
}
