// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorInvocation

/// The gates that a plugin uses, as the host offers them.
package struct UsedGates: Sendable {
    /// The names in the manifest's `uses` that are bound to connectors.
    package var names: [String]
    /// The names of optional uses that are bound to none.
    package var unbound: [String]
    /// Calls an operation of a used gate, and returns its result as JSON; empty if it has none.
    package var call: @Sendable (_ call: UsedGateCall) async -> Result<[UInt8], ServiceFailure>

    /// Creates the gates of a plugin.
    package init(
        _ names: [String],
        unbound: [String] = [],
        _ call: @escaping @Sendable (_ call: UsedGateCall) async -> Result<[UInt8], ServiceFailure>
    ) {
        self.names = names
        self.unbound = unbound
        self.call = call
    }
}

/// A plugin's call of a gate that it uses, with parsed arguments.
package struct UsedGateCall: Sendable {
    /// The call, without the text of its arguments: it is not kept beside what was parsed from it.
    package var template: GateCallTemplate
    /// The arguments: an object by name, or an array in the order of the parameters.
    package let arguments: JSONValue

    /// Parses the arguments of a plugin's call.
    ///
    /// - Throws: `invalid` if they are neither a JSON object nor an array.
    package init(_ template: GateCallTemplate) throws(ServiceFailure) {
        arguments = try Self.arguments(template.arguments)
        self.template = template
        self.template.arguments = []
    }

    private static func arguments(_ text: [UInt8]) throws(ServiceFailure) -> JSONValue {
        guard !text.isEmpty else { return [:] }
        let value: JSONValue
        do throws(ConnectorError) {
            value = try JSONValue(document: text, file: "arguments")
        } catch {
            throw .invalid("the arguments are not JSON: \(error)")
        }
        guard value.object != nil || value.array != nil else {
            throw .invalid("the arguments must be an object or an array, not \(value.kind)")
        }
        return value
    }
}
