// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform
package import ConnectorSandbox
internal import Synchronization

/// The runners of a host: each is started when its first gate opens, and ends with its last.
package final class RunnerPool: Sendable {
    /// One of the two runners of a key: an instance and its standby are in different ones.
    package enum Berth: Sendable, Hashable {
        case first
        case second

        /// The other one.
        package var other: Self { self == .first ? .second : .first }
    }

    /// Whose instances share a runner.
    package struct Key: Sendable, Hashable, CustomStringConvertible {
        /// The name in the file, or the plugin's id.
        package var description: String
        /// Tells images of one plugin apart, so that the memory of an old one goes with its runner; empty for a name in the
        /// file.
        package var image: String
        /// Which of the two runners.
        package var berth: Berth
        /// What the runner may do: instances that may do different things share none.
        package var sandbox: SandboxSettings

        /// Creates a key.
        package init(
            _ description: String,
            image: String = "",
            in berth: Berth = .first,
            sandbox: SandboxSettings
        ) {
            self.description = description
            self.berth = berth
            self.image = image
            self.sandbox = sandbox
        }
    }

    /// The most runners of a host.
    package static let limit = 64

    private let find: @Sendable () throws(ConnectorError) -> RunnerProgram
    private let onLine: Runner.Output
    /// One for each key, held while its runner starts.
    private let slots = Mutex<[Key: Monitor<Runner?>]>([:])
    private let living = Mutex<[Runner]>([])
    private let limit: Int
    private let transport: RunnerTransport
    private let groups: ControlGroupSource

    /// Creates a pool without runners.
    ///
    /// - Parameters:
    ///   - limit: The most runners at once.
    ///   - transport: What carries the messages.
    ///   - groups: Where runners with bounds have their control groups.
    ///   - find: Finds the program, once for each runner.
    ///   - onLine: Receives each line that a runner prints.
    package init(
        limit: Int = RunnerPool.limit,
        transport: RunnerTransport = .automatic,
        groups: ControlGroupSource = ControlGroupSource(),
        find: @escaping @Sendable () throws(ConnectorError) -> RunnerProgram,
        onLine: @escaping Runner.Output
    ) {
        self.limit = limit
        self.transport = transport
        self.groups = groups
        self.find = find
        self.onLine = onLine
    }

    deinit {
        for runner in runners { runner.stop("the host has ended") }
    }

    /// The runner for a key, started if there is none. Blocks while it starts.
    ///
    /// - Returns: A runner that does not end before ``Runner/release()``.
    package func hold(_ key: Key) throws(ConnectorError) -> Runner {
        let slot = slots.withLock { slots in
            let slot = slots[key] ?? Monitor(nil)
            slots[key] = slot
            return slot
        }
        return try slot.withLock { current throws(ConnectorError) in
            if let current, current.hold() { return current }
            let count = runners.count
            guard count < limit else {
                throw ConnectorError(
                    .unavailable,
                    "the host has \(count) runners, the most that it may have",
                    fix: "let connectors share runners, by the same \"runner\" in the file"
                )
            }
            let runner = try Runner(
                key.description,
                find(),
                sandbox: key.sandbox,
                transport: transport,
                groups: groups,
                onLine: onLine
            )
            _ = runner.hold()
            current = runner
            living.withLock { $0.append(runner) }
            return runner
        }
    }

    /// The runners that live. One that is starting is not among them yet.
    package var runners: [Runner] {
        living.withLock { runners in
            runners.removeAll { !$0.isAlive }
            return runners
        }
    }
}
