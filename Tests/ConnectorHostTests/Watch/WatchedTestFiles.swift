// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorPlatform

/// A watcher of the files of a `connectors.json` in a directory, on a clock that a test moves.
final class WatchedTestFiles: Sendable {
    let directory = ScratchDirectory()
    let clock = ManualHostClock()
    let threads = WorkerThreads(clock: SystemHostClock())
    /// The names of the files in each change.
    let changes = Journal<(configuration: [String], secrets: [String])>()
    let modes = Journal<FileWatching>()
    /// Why no events are available; nil if they are.
    let failure = Mutex<SystemError?>(nil)
    private let started = OneShot<Void>()
    private let watcher = Mutex<FileWatcher?>(nil)

    /// The configuration's file.
    var file: String { "\(directory.path)/connectors.json" }

    /// Starts to watch, and waits until it does.
    ///
    /// - Parameter hearsEvents: Whether events reach the watcher.
    func start(hearsEvents: Bool = true) async {
        let file = file
        let watcher = FileWatcher(
            FileWatcher.Dependencies(
                clock: clock,
                threads: threads,
                files: { ConfigurationFiles(of: file, environment: .init([:])) },
                makeWatch: { [self] onChange throws(SystemError) in
                    if let failure = failure.withLock(\.self) { throw failure }
                    return try DirectoryWatch { if hearsEvents { onChange() } }
                },
                onMode: { [modes] in modes.note($0) },
                onStart: { [started] _ in started.send() },
                onChange: { [changes] in changes.note(($0, $1)) }
            )
        )
        self.watcher.withLock { $0 = watcher }
        watcher.start()
        await started.wait()
    }

    deinit { watcher.withLock { $0?.stop() } }

    /// Ends the watch, and waits until the watcher is gone, so that nothing can be reported any more.
    func end() async throws {
        weak let last = watcher.withLock { watcher in
            watcher?.stop()
            return watcher.take()
        }
        while last != nil { try await Task.checkedYield() }
    }

    /// Writes a file over what is there.
    func write(_ text: String, to name: String = "connectors.json") { directory.write(Array(text.utf8), to: name) }

    /// Runs a command of the shell in the directory.
    func run(_ command: String) { #expect(Fixtures.run("cd '\(directory.path)' && \(command)") == 0) }

    /// Does something, and waits for the change that an event reports, without reaching the time when the watcher looks by itself.
    func change(_ body: () -> Void) async throws -> (configuration: [String], secrets: [String]) {
        let (before, start) = (changes.values.count, clock.now())
        body()
        while changes.values.count == before {
            if clock.hasTimer(dueAfter: FileWatcher.quiet) { clock.advance(by: FileWatcher.quiet) }
            try await Task.checkedYield()
        }
        #expect(clock.now() - start < FileWatcher.interval.nanoseconds)
        let change = changes.values[before]
        let names = { (paths: [String]) in paths.map { $0.replacing(self.directory.path + "/", with: "") } }
        return (names(change.configuration), names(change.secrets))
    }
}
