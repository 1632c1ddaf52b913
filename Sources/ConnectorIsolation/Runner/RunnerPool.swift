// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorLoading
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
        /// Tells images of one plugin apart, so that the memory of an old one goes with its runner; nil for a name in the file.
        package var image: Image?
        /// Which of the two runners.
        package var berth: Berth
        /// What the runner may do: instances that may do different things share none.
        package var sandbox: SandboxSettings

        /// Creates a key.
        package init(
            _ description: String,
            image: Image? = nil,
            in berth: Berth = .first,
            sandbox: SandboxSettings
        ) {
            self.description = description
            self.berth = berth
            self.image = image
            self.sandbox = sandbox
        }
    }

    /// What a plugin is loaded from.
    package struct Image: Sendable, Hashable {
        /// Where its file is.
        package var path: String
        /// The file as it was when it was examined; nil if the image is not a file.
        package var identity: FileIdentity?

        /// Names an image.
        package init(path: String, identity: FileIdentity?) {
            self.path = path
            self.identity = identity
        }
    }

    /// A key's runner, or the process that is to become it.
    private struct Slot: Sendable {
        var runner: Runner?
        var start: RunnerSpawner.Start?
    }

    /// The most runners of a host.
    package static let limit = 64

    private let find: @Sendable () throws(ConnectorError) -> RunnerProgram
    private let onLine: Runner.Output
    /// One for each key, held while its runner starts.
    private let slots = Mutex<[Key: Monitor<Slot>]>([:])
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
        for slot in slots.withLock({ Array($0.values) }) { slot.withLock { $0.start.take() }?.abandon() }
        for runner in runners { runner.stop("the host has ended") }
    }

    private func slot(_ key: Key) -> Monitor<Slot> {
        slots.withLock { slots in
            let slot = slots[key] ?? Monitor(Slot())
            slots[key] = slot
            return slot
        }
    }

    /// Starts the process for a key if it has none, and does not wait for it, but for another caller whose runner of that key starts.
    /// Balance it with ``hold(_:)`` or ``abandon(_:)``.
    package func begin(_ key: Key) {
        slot(key).withLock { slot in
            guard slot.start == nil, slot.runner?.isAlive != true, runners.count < limit,
                let program = try? find()
            else { return }
            slot.start = try? RunnerSpawner.shared.begin(program, key.sandbox)
        }
    }

    /// Ends the process for a key unless its runner has been asked for. Do not call ``hold(_:)`` afterwards.
    package func abandon(_ key: Key) {
        slot(key).withLock { $0.start.take() }?.abandon()
    }

    /// The runner for a key, started if there is none. Blocks while it starts.
    ///
    /// - Returns: A runner that does not end before ``Runner/release()``.
    package func hold(_ key: Key) throws(ConnectorError) -> Runner {
        try slot(key).withLock { slot throws(ConnectorError) in
            let start = slot.start.take()
            if let runner = slot.runner, runner.hold() {
                start?.abandon()
                return runner
            }
            let count = runners.count
            guard count < limit else {
                start?.abandon()
                throw ConnectorError(
                    .unavailable,
                    "the host has \(count) runners, the most that it may have",
                    fix: "let connectors share runners, by the same \"runner\" in the file"
                )
            }
            let process = if let start { start } else { try RunnerSpawner.shared.begin(find(), key.sandbox) }
            let runner = try Runner(
                key.description,
                process,
                transport: transport,
                groups: groups,
                onLine: onLine
            )
            _ = runner.hold()
            slot.runner = runner
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
