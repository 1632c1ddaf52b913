// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Two providers in a row: the second takes the output of the first as its parameters.
///
/// If the first fails, the second is not asked. Longer sequences are sequences of sequences.
public struct SequenceProvider<First: DataProvider, Second: DataProvider>: DataProvider
where First.Output == Second.Parameters {
    /// The provider asked first.
    private let first: First

    /// The provider asked with the first one's output.
    private let second: Second

    /// Puts two providers in a row.
    init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    /// Asks the first provider, then the second, unless cancelled in between.
    public func request(_ parameters: First.Parameters) async throws -> Second.Output {
        let intermediate = try await first.request(parameters)
        try Task.checkCancellation()
        return try await second.request(intermediate)
    }
}

extension DataProvider {
    /// Feeds this provider's output to another one; the operator `>>>>` by name.
    ///
    /// - Parameter next: The provider asked with this one's output.
    /// - Returns: A provider with this one's parameters and the output of `next`.
    public func followed<Next>(by next: Next) -> SequenceProvider<Self, Next> {
        SequenceProvider(self, next)
    }
}
