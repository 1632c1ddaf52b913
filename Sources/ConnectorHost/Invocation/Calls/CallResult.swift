// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// An out parameter or a result with its value; a single result has the name "".
typealias CallOutput = (name: String, type: ValueType, value: CallValue)

/// What an operation answered.
struct CallResult: Sendable {
    /// Out parameters, then results, in the order of the signature; a single result has the name "".
    var outputs: [CallOutput]
    /// Which gate answered; empty until it says so.
    var gate = ""
    /// Turns handles of that gate into numbers.
    var handles: HandleTable?

    /// The bytes of the only result; empty if there is none.
    var text: [UInt8] {
        guard case .bytes(let bytes)? = outputs.first?.value else { return [] }
        return bytes
    }

    /// The answer as JSON: nothing is null, a single unnamed result is itself, several are an object.
    func json() throws(ConnectorError) -> JSONValue {
        do throws(ConnectorError) {
            if outputs.count == 1, let output = outputs.first, output.name.isEmpty {
                return try output.value.json(as: output.type, handles: handles)
            }
            guard !outputs.isEmpty else { return .null }
            var object = JSONObject()
            for output in outputs {
                object[output.name.isEmpty ? "result" : output.name] = try output.value.json(
                    as: output.type,
                    handles: handles
                )
            }
            return .object(object)
        } catch {
            var error = error
            error.connector = gate
            throw error
        }
    }
}
