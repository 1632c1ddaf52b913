// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Calls operations by name, as `GateClient` does.
///
/// Code that takes a caller needs no host: a test hands it a caller of its own.
public protocol OperationCaller: Sendable {
    /// Calls an operation. May be called from any thread, and many times at once.
    ///
    /// - Parameters:
    ///   - operation: The operation's name.
    ///   - arguments: The arguments by parameter name.
    ///   - options: The timeout of the call.
    /// - Returns: The result; null if there is none.
    /// - Throws: The error of the failed call.
    func call(_ operation: String, _ arguments: JSONObject, options: CallOptions) async throws -> JSONValue
}
