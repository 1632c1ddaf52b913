// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// An out parameter or result with its value; the name of a single result is empty.
package typealias CallOutput = (name: String, type: ValueType, value: CallValue)

/// The answer of an operation.
package struct CallResult: Sendable {
    /// The out parameters, then the results, in the order of the signature.
    package var outputs: [CallOutput]
    /// The path of the gate that answered; empty until the gate sets it.
    package var gate = ""
    /// Maps the gate's handles to numbers.
    package var handles: (any HandleNumbering)?
    /// Whether the function ran on its caller's thread, as a prepared call of it would.
    package var isPrompt = false

    package init(outputs: [CallOutput], gate: String = "", handles: (any HandleNumbering)? = nil) {
        self.outputs = outputs
        self.gate = gate
        self.handles = handles
    }

    /// The outputs for another process: the numbers of handles in place of their addresses, which mean nothing there.
    package var numberedOutputs: [CallOutput] {
        outputs.map { output in
            guard case .handle(let address) = output.value, address != 0 else { return output }
            return (output.name, output.type, .handle(UInt(clamping: handles?.number(address) ?? 0)))
        }
    }

    /// The bytes of a single result; empty if there is none.
    package var text: [UInt8] {
        guard case .bytes(let bytes)? = outputs.first?.value else { return [] }
        return bytes
    }

    /// The answer as JSON: null if there are no outputs, the value of a single unnamed result, otherwise an object by name.
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
