// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// A plugin function running on a thread of the host, or of a runner.
package struct PluginFunction: Sendable, Hashable, CustomStringConvertible {
    /// The operation, or a function of the life cycle such as `open`.
    package let name: String
    /// The exported symbol; nil if the manifest does not name it.
    package let symbol: String?
    /// Whether it belongs to a foreign library, whose functions may block.
    package let isForeign: Bool
    /// Whether it is still running past its caller's deadline.
    package var isOverdue = false

    /// The name of a callback of a service.
    package static let callback = "a callback of a request or timer"

    /// Creates the description of a function.
    package init(_ name: String, symbol: String? = nil, isForeign: Bool = false) {
        self.name = name
        self.symbol = symbol
        self.isForeign = isForeign
    }

    /// The error of a call whose function has ended the thread that it was called on, as `pthread_exit` does.
    package var endedThreadError: ConnectorError {
        ConnectorError(
            .misbehaved,
            "\(self) ended the thread that it was called on (pthread_exit)",
            fix: isForeign ? Self.foreignReturnAdvice : Self.returnAdvice
        )
    }

    /// What to do about a function that ends its thread.
    package static let returnAdvice = "fix the plugin: its functions must return"
    /// What to do about a function of a foreign library that does.
    package static let foreignReturnAdvice =
        "take the operation out of the manifest: a function that does not return cannot be called"

    /// The name, with the symbol in parentheses if known.
    package var description: String { symbol.map { "\(name) (\($0))" } ?? name }
}
