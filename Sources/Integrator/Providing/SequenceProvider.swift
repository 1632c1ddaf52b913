// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Two chained providers: the second takes the output of the first as its parameters.
///
/// If the first fails, the second is not called. Longer sequences nest.
public struct SequenceProvider<First: DataProvider, Second: DataProvider>: DataProvider
where First.Output == Second.Parameters {
    /// The provider to call first.
    private let first: First

    /// The provider to call with the output of the first.
    private let second: Second

    /// Chains two providers.
    init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    /// Calls the first provider, then the second, unless cancelled in between.
    public func request(_ parameters: First.Parameters) async throws -> Second.Output {
        let intermediate = try await first.request(parameters)
        try Task.checkCancellation()
        return try await second.request(intermediate)
    }
}

extension DataProvider {
    /// Feeds this provider's output to another one; the operator `>>>>` by name.
    ///
    /// - Parameter next: The provider to call with this one's output.
    /// - Returns: A provider with this one's parameters and the output of `next`.
    public func followed<Next>(by next: Next) -> SequenceProvider<Self, Next> {
        SequenceProvider(self, next)
    }
}
