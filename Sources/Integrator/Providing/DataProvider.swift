// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Where data comes from: one asynchronous request, with a typed question and a typed answer.
///
/// A provider knows a server, a file, a cache or a gate's operation; it knows neither who asks nor what becomes of the
/// answer. ``CallFlow`` adds the rest. A closure becomes a provider through ``ClosureProvider``.
public protocol DataProvider<Parameters, Output>: Sendable {
    /// What a request asks for.
    associatedtype Parameters: Sendable

    /// What a request is answered with.
    associatedtype Output: Sendable

    /// The provider as a group, for `>><<`; nothing to declare, a group of one is the default.
    associatedtype Grouped = GroupProvider<Self>

    /// The members that `>><<` adds another one to: the provider itself, or its members when it is a group.
    var grouped: Grouped { get }

    /// Fetches the data that `parameters` ask for.
    ///
    /// Called once per attempt, possibly many times at once. A request that is no longer wanted runs in a cancelled
    /// task: stop, and throw `CancellationError`.
    ///
    /// - Parameter parameters: What is asked for.
    /// - Returns: The answer.
    /// - Throws: Any error; it reaches the observers of the call as it is.
    func request(_ parameters: Parameters) async throws -> Output
}

extension DataProvider where Grouped == GroupProvider<Self> {
    /// A group of one.
    public var grouped: GroupProvider<Self> { GroupProvider(self) }
}
