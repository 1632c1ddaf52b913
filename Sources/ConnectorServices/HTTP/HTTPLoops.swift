// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
package import ConnectorInvocation
internal import ConnectorPlatform
package import NIOCore
internal import NIOPosix
internal import Synchronization

/// The event loops of requests, lent to gates.
///
/// A loop resolves names one after another, and NIO cannot give a look-up up: a name whose DNS server is silent holds up all that follow
/// for 10 s or more. So each gate has a loop of its own, until there are as many as the limit; from then on gates share them. A thread
/// starts with the first gate that needs it, and never ends.
package final class HTTPLoops: Sendable {
    /// The loops of this process.
    package static let shared = HTTPLoops(limit: 16)

    /// A loop that is lent for as long as this object lives.
    package final class Lease: Sendable {
        /// The loop.
        package let loop: any EventLoop
        private let index: Int
        private let owner: HTTPLoops

        fileprivate init(_ loop: any EventLoop, _ index: Int, _ owner: HTTPLoops) {
            self.loop = loop
            self.index = index
            self.owner = owner
        }

        deinit {
            owner.giveBack(index)
        }
    }

    private struct Entry: Sendable {
        var loop: any EventLoop
        /// How many gates have it.
        var users = 0
        /// The number of its last return; 0 before the first.
        var lastReturn: UInt64 = 0
    }

    private struct State: Sendable {
        var entries: [Entry] = []
        /// The number of returns so far.
        var returns: UInt64 = 0
    }

    /// How many there are at most.
    package let limit: Int
    private let state = Mutex(State())

    /// Creates the loops without starting a thread.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Lends a loop that no gate has, or, if there can be no more, one that as few gates have as any other.
    ///
    /// - Throws: `unavailable` if the system has no threads or no descriptors for the first loops. NIO would end the process.
    package func lend() throws(ServiceFailure) -> Lease {
        let (loop, index) = try state.withLock { state throws(ServiceFailure) -> (any EventLoop, Int) in
            if state.entries.isEmpty { state.entries = try Self.first(limit).map { Entry(loop: $0) } }
            if state.entries.count < limit, state.entries.allSatisfy({ $0.users > 0 }), let loop = Self.another() {
                state.entries.append(Entry(loop: loop))
            }
            // Of those that no gate has, the one that was given back first: its look-ups have had the most time to end.
            var index = 0
            for other in state.entries.indices.dropFirst() {
                let (best, entry) = (state.entries[index], state.entries[other])
                if (entry.users, entry.lastReturn) < (best.users, best.lastReturn) { index = other }
            }
            state.entries[index].users += 1
            return (state.entries[index].loop, index)
        }
        return Lease(loop, index, self)
    }

    /// The loops that all clients and servers of this process share.
    private static func first(_ limit: Int) throws(ServiceFailure) -> [any EventLoop] {
        let refusal = HostThread.prepareEventLoops(NIOSingletons.groupLoopCountSuggestion) {
            _ = HTTPClient.defaultEventLoopGroup
        }
        if let refusal {
            guard refusal.limitRemedy == nil else {
                throw .unavailable("too few descriptors are left for HTTP", errno: refusal.number)
            }
            throw .unavailable("the system cannot create the threads of HTTP: \(HostThread.remedy)")
        }
        return Array(HTTPClient.defaultEventLoopGroup.makeIterator().prefix(min(4, limit)))
    }

    /// Another loop; nil if the system has no thread or no descriptors for it.
    private static func another() -> (any EventLoop)? {
        // On Darwin, the Network framework resolves names, and its loops are of another kind.
        #if canImport(Darwin)
            return nil
        #else
            guard DescriptorLimit.hasRoom(forLoops: 1) else { return nil }
            let made = Monitor<(any EventLoop)?>(nil)
            // On a thread of NIO's, a system that creates none would end the process.
            let isStarted = HostThread.start("http") {
                MultiThreadedEventLoopGroup.withCurrentThreadAsEventLoop { loop in
                    made.withLock { $0 = loop }
                    made.signal()
                }
            }
            guard isStarted else { return nil }
            return made.wait { loop -> Monitor<(any EventLoop)?>.Step<any EventLoop> in
                if let loop { .proceed(loop) } else { .wait(until: nil) }
            }
        #endif
    }

    private func giveBack(_ index: Int) {
        state.withLock { state in
            state.returns += 1
            state.entries[index].users -= 1
            state.entries[index].lastReturn = state.returns
        }
    }
}
