// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A source of data: one asynchronous request with typed parameters and a typed output.
///
/// A provider wraps a server, a file, a cache or a gate's operation. It knows neither the caller nor the use of its
/// output; ``CallFlow`` adds both. A closure becomes a provider through ``ClosureProvider``.
public protocol DataProvider<Parameters, Output>: Sendable {
    /// The input of a request.
    associatedtype Parameters: Sendable

    /// The output of a request.
    associatedtype Output: Sendable

    /// The provider as a group, for `>><<`; by default a group of one.
    associatedtype Grouped = GroupProvider<Self>

    /// The group to which `>><<` adds a member: the provider alone, or the group that it is.
    var grouped: Grouped { get }

    /// Fetches the data for `parameters`.
    ///
    /// Called once per attempt, possibly concurrently. The task of a request that is no longer needed is cancelled: stop,
    /// and throw `CancellationError`.
    ///
    /// - Parameter parameters: The input.
    /// - Returns: The output.
    /// - Throws: Any error; the observers of the call receive it unchanged.
    func request(_ parameters: Parameters) async throws -> Output
}

extension DataProvider where Grouped == GroupProvider<Self> {
    /// A group of one.
    public var grouped: GroupProvider<Self> { GroupProvider(self) }
}
