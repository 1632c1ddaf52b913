// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// An out parameter or a result with its value; a single result has the name "".
package typealias CallOutput = (name: String, type: ValueType, value: CallValue)

/// What an operation answered.
package struct CallResult: Sendable {
    /// Out parameters, then results, in the order of the signature; a single result has the name "".
    package var outputs: [CallOutput]
    /// Which gate answered; empty until it says so.
    package var gate = ""
    /// Turns handles of that gate into numbers.
    package var handles: HandleTable?

    /// The bytes of the only result; empty if there is none.
    package var text: [UInt8] {
        guard case .bytes(let bytes)? = outputs.first?.value else { return [] }
        return bytes
    }

    /// The answer as JSON: nothing is null, a single unnamed result is itself, several are an object.
    package func json() throws(ConnectorError) -> JSONValue {
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
