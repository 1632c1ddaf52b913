// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Notices changes of files through the system's events, and by looking again at intervals, because some changes have
/// no events.
///
/// A change counts once the files have stayed the same for ``quiet``, so that nothing half-written is read. If they do
/// not settle within ``longestWait``, their last state counts.
final class FileWatcher: Sendable {
    /// What a watcher works with.
    struct Dependencies: Sendable {
        let clock: any HostClock
        /// Files are read on these threads.
        let threads: WorkerThreads
        /// The files to watch, as of now. Blocks.
        let files: @Sendable () -> ConfigurationFiles
        let makeWatch: DirectoryWatch.Make
        /// Called when events become or cease to be available.
        let onMode: @Sendable (FileWatching) -> Void
        /// Called with the content of the files when the watch begins.
        let onStart: @Sendable (WatchedContent) async -> Void
        /// Called after a change, one at a time.
        let onChange: @Sendable (_ configuration: [String], _ secrets: [String]) async -> Void
    }

    private struct State {
        var isStarted = false
        var isStopped = false
        /// Sent at the next event.
        var event = OneShot<Void>()
        /// Reports events; nil if there are none.
        var watch: DirectoryWatch?
        var mode: FileWatching?
    }

    /// How long the files must stay the same for a change to count.
    static let quiet = Duration.milliseconds(200)
    /// How long a change may wait for the files to settle.
    static let longestWait = Duration.seconds(2)
    /// How often the files are looked at in addition to events.
    static let interval = Duration.seconds(10)
    /// How often they are looked at without events.
    static let pollingInterval = Duration.seconds(1)
    /// How many times the directories are followed at most, because they may change while the watch on them begins.
    private static let roundLimit = 5

    private let dependencies: Dependencies
    private let state = Mutex(State())

    /// Creates a watcher that has not started.
    init(_ dependencies: Dependencies) {
        self.dependencies = dependencies
    }

    /// Starts to watch, once.
    func start() {
        let starts = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted && !state.isStopped
        }
        guard starts else { return }
        Task(executorPreference: dependencies.threads) { await self.run() }
    }

    /// Ends the watch. The handling of a change in progress finishes.
    func stop() {
        let event = state.withLock { state in
            state.isStopped = true
            return state.event
        }
        event.send()
    }

    private var isStopped: Bool { state.withLock(\.isStopped) }

    private func run() async {
        var event = nextEvent()
        var last = await look()
        await dependencies.onStart(last)
        while !isStopped {
            let hasEvents = state.withLock { $0.watch != nil }
            _ = await event.wait(for: hasEvents ? Self.interval : Self.pollingInterval, on: dependencies.clock)
            // The watcher may also be stopped while the files settle.
            guard !isStopped, let content = await settled(unlike: last, &event), !isStopped else { continue }
            let (configuration, secrets) = content.changes(since: last)
            last = content
            await dependencies.onChange(configuration, secrets)
        }
        state.withLock { state in
            defer { state.watch = nil }
            return state.watch
        }?.close()
    }

    /// The next settled state of the files; nil if it is the known one.
    private func settled(unlike last: WatchedContent, _ event: inout OneShot<Void>) async -> WatchedContent? {
        event = nextEvent()
        var content = await look()
        guard content != last else { return nil }
        let clock = dependencies.clock
        let end = clock.deadline(after: Self.longestWait.nanoseconds)
        while !isStopped, clock.now() < end {
            let moment = min(end, clock.now().saturatingAdding(Self.quiet.nanoseconds))
            let isQuiet = await event.wait(by: moment, on: clock) == nil
            event = nextEvent()
            let next = await look()
            if isQuiet, next == content { break }
            content = next
        }
        return content == last ? nil : content
    }

    /// Forgets the events so far. A change after the next look is not missed.
    private func nextEvent() -> OneShot<Void> {
        state.withLock { state in
            if !state.isStopped { state.event = OneShot() }
            return state.event
        }
    }

    // MARK: Looking

    private func look() async -> WatchedContent {
        let content = OneShot<WatchedContent>()
        dependencies.threads.run { content.send(self.lookNow()) }
        return await content.wait()
    }

    /// Watches every directory on the way to the files, then reads them. Blocks.
    private func lookNow() -> WatchedContent {
        var files = dependencies.files()
        do throws(SystemError) {
            let watch = try watch()
            var interests = WatchedContent.interests(in: files)
            for _ in 1...Self.roundLimit {
                try watch.watch(interests)
                // What changed before the watch began has no event.
                files = dependencies.files()
                let next = WatchedContent.interests(in: files)
                guard next != interests else { break }
                interests = next
            }
            note(FileWatching(hasEvents: true))
        } catch {
            state.withLock { state in
                defer { state.watch = nil }
                return state.watch
            }?.close()
            note(FileWatching(hasEvents: false, reason: Self.reason(error)))
        }
        return WatchedContent(files)
    }

    private func watch() throws(SystemError) -> DirectoryWatch {
        if let watch = state.withLock(\.watch) { return watch }
        let watch = try dependencies.makeWatch { [weak self] in self?.state.withLock(\.event).send() }
        state.withLock { $0.watch = watch }
        return watch
    }

    private func note(_ mode: FileWatching) {
        let isNew = state.withLock { state in
            defer { state.mode = mode }
            return state.mode != mode
        }
        if isNew { dependencies.onMode(mode) }
    }

    private static func reason(_ error: SystemError) -> String {
        let isLimit = [ENOSPC, EMFILE].contains(error.number)
        return isLimit
            ? "\(error); raise fs.inotify.max_user_watches or fs.inotify.max_user_instances" : error.description
    }
}
