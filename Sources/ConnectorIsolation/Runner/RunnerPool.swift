// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorLoading
package import ConnectorPlatform
internal import Synchronization

/// The runners of a host: each is started when its first gate opens, and ends with its last.
package final class RunnerPool: Sendable {
    /// One of the two runners of a key: an instance is in one, its standby or its successor in the other.
    package enum Replica: Sendable, Hashable {
        case first
        case second

        /// The other one.
        package var other: Self { self == .first ? .second : .first }
    }

    /// What identifies a runner: instances with the same key share it.
    package struct Key: Sendable, Hashable, CustomStringConvertible {
        /// The name in the file, or the plugin's id.
        package var description: String
        /// Tells images of one plugin apart, so that an old image's memory goes with its runner; nil if the file names the runner.
        package var image: Image?
        /// Which of the two runners.
        package var replica: Replica
        /// What the runner may do: instances with different permissions share none.
        package var sandbox: SandboxSettings

        /// Creates a key.
        package init(
            _ description: String,
            image: Image? = nil,
            in replica: Replica = .first,
            sandbox: SandboxSettings
        ) {
            self.description = description
            self.replica = replica
            self.image = image
            self.sandbox = sandbox
        }

        /// Whether another key has the same image, perhaps with the libraries beside it, which are known only once it was read.
        fileprivate func hasImage(of other: Key) -> Bool {
            var (key, other) = (self, other)
            key.image?.libraries = []
            other.image?.libraries = []
            return key == other
        }
    }

    /// What a plugin is loaded from.
    package struct Image: Sendable, Hashable {
        /// Where its file is.
        package var path: String
        /// The file as it was when it was examined; nil if the image is not a file.
        package var stamp: FileStamp?
        /// The libraries beside it: a process keeps the first one of a name, so others need another runner.
        package var libraries: [LibraryBeside] = []

        /// Names an image.
        package init(path: String, stamp: FileStamp?) {
            self.path = path
            self.stamp = stamp
        }
    }

    /// A key's runner, or the process that is to become it.
    private struct Slot: Sendable {
        var runner: Runner?
        var start: RunnerSpawner.Start?

        /// Whether it holds neither a living runner nor a start.
        var isEmpty: Bool { start == nil && runner?.isAlive != true }
    }

    private struct State: Sendable {
        /// A slot for each key, locked while its runner starts, and how many callers are using it.
        var slots: [Key: (slot: Monitor<Slot>, users: Int)] = [:]
        /// The living runners.
        var living: [Runner] = []
        /// How many processes are about to become runners.
        var startCount = 0
        /// The program of the first runner that answered; all others run it, too, whatever is installed meanwhile.
        var program: RunnerProgram?

        mutating func removeDead() {
            living.removeAll { !$0.isAlive }
            // A caller that uses a slot may be about to fill it. The lock of a slot without users is free.
            slots = slots.filter { $0.value.users > 0 || !$0.value.slot.withLock(\.isEmpty) }
        }
    }

    /// The most runners of a host.
    package static let limit = 64

    private let find: @Sendable () throws(ConnectorError) -> RunnerProgram
    private let onLine: Runner.Output
    private let onRefusal: Runner.Refusals
    private let state = Mutex(State())
    private let limit: Int
    private let transport: RunnerTransport
    private let groups: ControlGroupSource

    /// Creates a pool without runners.
    ///
    /// - Parameters:
    ///   - limit: The most runners at once, including those that are starting.
    ///   - transport: What carries the messages.
    ///   - groups: Where runners with bounds have their control groups.
    ///   - find: Finds the program, for each runner until one has answered.
    ///   - onLine: Receives each line that a runner prints.
    ///   - onRefusal: Receives what a runner's sandbox refuses.
    package init(
        limit: Int = RunnerPool.limit,
        transport: RunnerTransport = .automatic,
        groups: ControlGroupSource = ControlGroupSource(),
        find: @escaping @Sendable () throws(ConnectorError) -> RunnerProgram,
        onLine: @escaping Runner.Output,
        onRefusal: @escaping Runner.Refusals = { _, _ in }
    ) {
        self.limit = limit
        self.transport = transport
        self.groups = groups
        self.find = find
        self.onLine = onLine
        self.onRefusal = onRefusal
    }

    deinit {
        for (slot, _) in state.withLock({ Array($0.slots.values) }) { slot.withLock { $0.start.take() }?.abandon() }
        for runner in runners { runner.stop("the host has ended") }
    }

    /// Starts the process for a key if neither it nor another key of the same image has one, without waiting for it; blocks only while
    /// another caller starts the key's runner. Balance it with ``hold(_:)``, ``move(_:to:)`` or ``abandon(_:)``.
    package func begin(_ key: Key) {
        withSlot(of: key) { slot in
            let isShared = state.withLock { $0.slots.keys.contains { $0 != key && $0.hasImage(of: key) } }
            guard slot.isEmpty, !isShared, reserve() else { return }
            do throws(ConnectorError) {
                slot.start = try RunnerSpawner.shared.begin(program(), key.sandbox)
            } catch {
                giveUpReservation()
            }
        }
    }

    /// Ends the process for a key unless its runner has been asked for. Do not call ``hold(_:)`` afterwards.
    package func abandon(_ key: Key) {
        withSlot(of: key) { abandonStart(of: &$0) }
    }

    /// Gives the process that was begun for a key to another one, for which ``hold(_:)`` is then called; ends it if that one has a runner or
    /// a process.
    package func move(_ key: Key, to other: Key) {
        guard let start = withSlot(of: key, { $0.start.take() }) else { return }
        withSlot(of: other) { slot in
            guard slot.isEmpty else {
                start.abandon()
                return giveUpReservation()
            }
            slot.start = start
        }
    }

    /// The runner for a key, started if there is none. Blocks while it starts.
    ///
    /// - Returns: A runner that does not end before ``Runner/release()``.
    package func hold(_ key: Key) throws(ConnectorError) -> Runner {
        if let runner = try holdIfRoom(key) { return runner }
        throw ConnectorError(
            .unavailable,
            "the host has \(limit) runners, the most that it may have",
            fix: "let connectors share runners, by the same \"runner\" in the file"
        )
    }

    /// The runner for a key as ``hold(_:)`` gives it; nil if there is none, and the host may have no more.
    package func holdIfRoom(_ key: Key) throws(ConnectorError) -> Runner? {
        try withSlot(of: key) { slot throws(ConnectorError) -> Runner? in
            if let runner = slot.runner, runner.hold() {
                abandonStart(of: &slot)
                return runner
            }
            let start = slot.start.take()
            guard start != nil || reserve() else { return nil }
            do throws(ConnectorError) {
                let process = if let start { start } else { try RunnerSpawner.shared.begin(program(), key.sandbox) }
                let runner = try Runner(
                    key.description,
                    process,
                    transport: transport,
                    groups: groups,
                    onLine: onLine,
                    onRefusal: onRefusal
                ) { [weak self] _ in self?.state.withLock { $0.removeDead() } }
                _ = runner.hold()
                slot.runner = runner
                let isFirst = state.withLock { state in
                    state.startCount -= 1
                    state.living.append(runner)
                    guard state.program == nil else { return false }
                    state.program = process.program
                    return true
                }
                // The gate that opens does not wait for the copy. Without a thread, there is none.
                if isFirst { _ = HostThread.start("runner-seal") { process.program.seal() } }
                return runner
            } catch {
                giveUpReservation()
                throw error
            }
        }
    }

    /// The living runners, without those that are still starting.
    package var runners: [Runner] { state.withLock { $0.living.filter(\.isAlive) } }

    // MARK: Places

    /// Uses the slot of a key, which is locked meanwhile.
    private func withSlot<Value, Failure: Error>(
        of key: Key,
        _ body: (inout Slot) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let slot = state.withLock { state in
            let slot = state.slots[key]?.slot ?? Monitor(Slot())
            state.slots[key] = (slot, (state.slots[key]?.users ?? 0) + 1)
            return slot
        }
        defer {
            state.withLock { state in
                state.slots[key]?.users -= 1
                state.removeDead()
            }
        }
        return try slot.withLock(body)
    }

    /// The program to start.
    private func program() throws(ConnectorError) -> RunnerProgram {
        if let program = state.withLock(\.program) { return program }
        return try find()
    }

    /// Reserves one of the ``limit`` runners for one that is to start.
    ///
    /// - Returns: False if there are so many already.
    private func reserve() -> Bool {
        state.withLock { state in
            state.removeDead()
            guard state.living.count + state.startCount < limit else { return false }
            state.startCount += 1
            return true
        }
    }

    private func giveUpReservation() {
        state.withLock { $0.startCount -= 1 }
    }

    private func abandonStart(of slot: inout Slot) {
        guard let start = slot.start.take() else { return }
        start.abandon()
        giveUpReservation()
    }
}
