// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// How thoroughly secrets are read again.
package enum Renewal: Sendable {
    /// Files and variables are read; for commands, the last output is used, and one without output has no secret.
    case files
    /// Commands run, too.
    case all
}

/// What reading the secrets of a leaf again yielded: the leaf as resolved, or what is made of it, for each alternative.
package struct RenewedSecrets<Value: Sendable>: Sendable {
    /// The leaf with each alternative that can be read, the preferred one first.
    package var alternatives: [Value]
    /// Why no alternative can be read, or why a preferred source that is there cannot; nil otherwise, and if only
    /// commands that did not run would show it.
    package var fault: SecretFault?

    /// Creates the result of a reading.
    package init(_ alternatives: [Value] = [], fault: SecretFault? = nil) {
        (self.alternatives, self.fault) = (alternatives, fault)
    }

    /// The same with what a function makes of each alternative; one that becomes nil is left out.
    package func compactMap<Other: Sendable>(_ body: (Value) -> Other?) -> RenewedSecrets<Other> {
        RenewedSecrets<Other>(alternatives.compactMap(body), fault: fault)
    }
}

/// Why secrets of a leaf cannot be read.
package struct SecretFault: Sendable {
    /// What is wrong with the first source.
    package var error: ConnectorError
    /// The fields whose secrets cannot be read; empty if the fault is not that of certain fields.
    package var fields: Set<String>
    /// Whether a command failed, so that reading the files alone does not show whether it works again.
    package var isOfCommand: Bool

    /// The fault as a warning about the leaf.
    package var warning: String {
        "secrets cannot be read: \(error.asCause)\(error.fix.map { "; \($0)" } ?? "")"
    }

    /// Creates a fault.
    package init(_ error: ConnectorError, of fields: Set<String> = [], isOfCommand: Bool = false) {
        (self.error, self.fields, self.isOfCommand) = (error, fields, isOfCommand)
    }
}
