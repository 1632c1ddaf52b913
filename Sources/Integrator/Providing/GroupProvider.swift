// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Calls several providers concurrently, each with its own parameters, and combines their outputs.
///
/// Parameters and output are flat tuples in the order of the members. The first member to fail cancels the others; the
/// group fails with its error once they have all returned.
public struct GroupProvider<each Member: DataProvider>: DataProvider {
    /// The parameters of each member, in order.
    public typealias Parameters = (repeat (each Member).Parameters)

    /// The output of each member, in order.
    public typealias Output = (repeat (each Member).Output)

    /// The group itself, so that a chain extends the group instead of nesting it.
    public var grouped: GroupProvider<repeat each Member> { self }

    /// The providers to call.
    private let members: (repeat each Member)

    /// Groups providers.
    init(_ members: repeat each Member) {
        self.members = (repeat each members)
    }

    /// The same group with one more member at its end.
    func adding<Last>(_ member: Last) -> GroupProvider<repeat each Member, Last> {
        GroupProvider<repeat each Member, Last>(repeat each members, member)
    }

    /// Calls every member concurrently and awaits them all.
    public func request(_ parameters: Parameters) async throws -> Output {
        let outputs = (repeat Self.pendingOutput(of: each members))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            repeat Self.start(each members, with: each parameters, for: each outputs, in: &tasks)
            // The first error leaves this scope, which cancels the remaining tasks.
            while try await tasks.next() != nil {}
        }
        return await (repeat (each outputs).wait())
    }

    /// The future output of one member.
    private static func pendingOutput<One: DataProvider>(of member: One) -> OneShot<One.Output> {
        OneShot()
    }

    /// Starts the request of one member as a child task.
    private static func start<One: DataProvider>(
        _ member: One,
        with parameters: One.Parameters,
        for output: OneShot<One.Output>,
        in tasks: inout ThrowingTaskGroup<Void, any Error>
    ) {
        tasks.addTask {
            output.send(try await member.request(parameters))
        }
    }
}

/// Calls several providers concurrently; the operator `>><<` by name.
///
/// - Parameter members: The providers, in the order of their outputs.
/// - Returns: A provider whose parameters and output are flat tuples.
public func group<each Member: DataProvider>(_ members: repeat each Member) -> GroupProvider<repeat each Member> {
    GroupProvider(repeat each members)
}
