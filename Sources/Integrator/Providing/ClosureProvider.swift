// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A data provider backed by a closure.
///
/// Useful for a gate's operation, for a conversion between two providers of a sequence, and in tests.
///
/// ```swift
/// let places = ClosureProvider { query in try await geocoder.geocode(query) }
/// ```
public struct ClosureProvider<Parameters: Sendable, Output: Sendable>: DataProvider {
    /// The closure that answers every request.
    private let respond: @Sendable (Parameters) async throws -> Output

    /// Creates a provider that returns what `respond` returns.
    ///
    /// - Parameter respond: Called once per attempt, possibly concurrently.
    public init(_ respond: @escaping @Sendable (_ parameters: Parameters) async throws -> Output) {
        self.respond = respond
    }

    /// Calls the closure.
    public func request(_ parameters: Parameters) async throws -> Output {
        try await respond(parameters)
    }
}
