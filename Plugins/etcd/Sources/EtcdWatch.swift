// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization

/// Follows the settings in etcd, and announces what changes, whoever changed it.
final class EtcdWatch: Sendable {
    /// The most bytes of one message from the server, which by default accepts requests of at most 1.5 MB.
    private static let messageLimit = 4 << 20
    private static let pauses = Backoff(initial: .seconds(1), maximum: .seconds(30))
    /// How long the watch must be down before that is reported, and how long it must last to count as healthy, in nanoseconds.
    private static let patience: UInt64 = 30_000_000_000

    /// The health of the watch. Times are monotonic, in nanoseconds.
    private struct Health {
        /// When the watch under way began; nil if there is none.
        var beginning: UInt64?
        /// When the watch was last healthy, and why it ended; nil if it has been since.
        var failure: (since: UInt64, error: PluginError)?
    }

    private let connection: EtcdConnection
    private let defaults: SettingsDefaults
    private let host: Host
    private let health = Mutex(Health())
    /// The last pause between two attempts; nil before the first.
    private let pausing = Mutex<Task<Void, Never>?>(nil)

    init(connection: EtcdConnection, defaults: SettingsDefaults, host: Host) {
        (self.connection, self.defaults, self.host) = (connection, defaults, host)
    }

    /// Why the watch has been down for a while, although the settings can be read; nil if it is up.
    var failure: PluginError? {
        let now = host.clock.monotonic
        return health.withLock { health in
            guard health.beginning == nil, let failure = health.failure else { return nil }
            return now - min(failure.since, now) >= Self.patience ? failure.error : nil
        }
    }

    /// Notes the end of a watch, or that none began.
    ///
    /// - Returns: Whether the watch had lasted.
    private func note(_ error: PluginError) -> Bool {
        let now = host.clock.monotonic
        return health.withLock { health in
            let hasLasted = health.beginning.map { now - min($0, now) >= Self.patience } ?? false
            let since = hasLasted ? now : health.failure?.since ?? now
            health = Health(beginning: nil, failure: (since, error))
            return hasLasted
        }
    }

    /// Announces the changes after a snapshot until the task is cancelled.
    ///
    /// After an interruption, it reads the settings again and announces everything that changed meanwhile at once: etcd
    /// may no longer know the changes in between.
    func run(from start: EtcdSnapshot) async {
        health.withLock { $0 = Health() }
        var last = start
        var failures = 0
        while !Task.isCancelled {
            do throws(PluginError) {
                if failures > 0 { advance(&last, to: try await connection.snapshot()) }
                try await follow(&last)
                throw PluginError(.unavailable, "the server ended the watch", domain: "etcd")
            } catch {
                guard error.status != .cancelled, error.status != .notOpen else { return }
                failures = note(error) ? 1 : failures + 1
                host.log.log(.warning, "settings are not being watched for changes", ["reason": .string(error.message)])
                await pause(max(Self.pauses.bound(after: failures), min(error.retryAfter ?? .zero, .seconds(3600))))
            }
        }
    }

    /// Ends a pause, which may be as long as the server has requested. Call it when the server has just answered.
    func resume() {
        pausing.withLock { $0?.cancel() }
    }

    /// Waits for some time, or until ``resume()`` is called or the task is cancelled.
    private func pause(_ duration: Duration) async {
        let pause = pausing.withLock { pausing in
            let pause = Task { [host] in
                // If the host has closed, the next attempt says so.
                _ = try? await host.clock.sleep(for: duration)
            }
            pausing = pause
            return pause
        }
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
    }

    /// Announces changes until the watch ends.
    private func follow(_ last: inout EtcdSnapshot) async throws(PluginError) {
        let stream = try await connection.watch(after: last.revision)
        var rest: [UInt8] = []
        var parts = stream.makeAsyncIterator()
        while let part = try await parts.next() {
            var lines = part.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            guard let first = lines.first, rest.count + first.count <= Self.messageLimit else {
                throw PluginError(.protocolViolation, "a message of the watch never ends", domain: "etcd")
            }
            lines[0] = ArraySlice(rest + first)
            rest = Array(lines.removeLast())
            for line in lines where !line.isEmpty {
                for snapshot in try last.following(try Self.result(of: line), connection.requests) {
                    advance(&last, to: snapshot)
                }
                let now = host.clock.monotonic
                health.withLock { $0.beginning = $0.beginning ?? now }
            }
        }
    }

    private static func result(of line: ArraySlice<UInt8>) throws(PluginError) -> JSONValue {
        guard let message = try? JSONValue(parsing: Array(line)) else {
            throw PluginError(.protocolViolation, "the watch sends what is not JSON", domain: "etcd")
        }
        let result = message["result"] ?? .null
        if let words = message["error"]?["message"]?.string ?? result["cancel_reason"]?.string {
            throw PluginError(.unavailable, "the server ended the watch: \(words)", domain: "etcd")
        }
        guard result["canceled"] != true, EtcdAnswer.revision(of: result) != nil else {
            throw PluginError(.unavailable, "the server ended the watch", domain: "etcd")
        }
        return result
    }

    /// Announces the differences, in as many events as they need, and moves on to the next snapshot even if that fails: the settings have
    /// changed anyway.
    private func advance(_ last: inout EtcdSnapshot, to next: EtcdSnapshot) {
        let changes = defaults.changes(from: last.values, to: next.values)
        last = next
        do throws(PluginError) {
            for event in Self.events(of: changes) { try host.events.emit(SettingsChange.event, .object(event)) }
        } catch {
            host.log.log(.warning, "a change of settings was not announced", ["reason": .string(error.message)])
        }
    }

    /// Divides changes into events that the host and its listeners take. After them comes an empty one, upon which all who watch read the
    /// settings again, if a value is too long for any event.
    private static func events(of changes: JSONObject) -> [JSONObject] {
        let limit = Events.byteLimit
        var events: [[(String, JSONValue)]] = []
        var size = 0
        var isComplete = true
        for member in changes.members {
            let change = (member.name, member.value)
            let bytes = JSONValue.object(JSONObject([change])).utf8().count
            guard bytes <= limit else {
                isComplete = false
                continue
            }
            if events.isEmpty || size + bytes > limit || events[events.count - 1].count == SettingsChange.countLimit {
                events.append([])
                size = 0
            }
            events[events.count - 1].append(change)
            size += bytes
        }
        return events.map { JSONObject($0) } + (isComplete ? [] : [JSONObject()])
    }
}
