// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorLoading
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Changes of files are noticed, whatever way they are changed.
@Suite(.timeLimit(.minutes(5))) struct FileWatcherTests {
    private let files = WatchedTestFiles()

    private static func text(_ name: String, more: String = "") -> String {
        #"{"version": 1, "name": "\#(name)"\#(more), "connectors": []}"#
    }

    private static func leaf(_ config: String) -> String {
        #"{"version": 1, "connectors": [{"name": "gate", "plugin": "calls", "config": \#(config)}]}"#
    }

    @Test func `a file that is written in place or replaced by renaming is noticed`() async throws {
        files.write(Self.text("a"))
        await files.start()
        #expect(try await files.change { files.write(Self.text("b")) }.configuration == ["connectors.json"])
        files.write(Self.text("c"), to: "new")
        #expect(try await files.change { files.run("mv new connectors.json") }.configuration == ["connectors.json"])
        #expect(try await files.change { files.write(Self.text("d")) }.configuration == ["connectors.json"])
        #expect(files.modes.values == [FileWatching(hasEvents: true)])
    }

    @Test func `a symbolic link that is replaced, as Kubernetes does, is noticed, even in a chain of links`()
        async throws
    {
        files.run("mkdir ..1 ..2 && ln -s ..1 ..data && ln -s ..data/connectors.json connectors.json")
        files.write(Self.text("a"), to: "..1/connectors.json")
        files.write(Self.text("b"), to: "..2/connectors.json")
        await files.start()
        let swapped = try await files.change { files.run("ln -s ..2 ..new && mv -T ..new ..data && rm -r ..1") }
        #expect(swapped.configuration == ["connectors.json"])
        // What the new directory contains is watched, too.
        #expect(try await files.change { files.write(Self.text("c"), to: "..2/connectors.json") }.secrets.isEmpty)
        // A link in the middle of the chain now leads elsewhere.
        files.run("mkdir -p far/off && cp ..2/connectors.json far/off")
        files.write(Self.text("d"), to: "far/off/connectors.json")
        let moved = try await files.change { files.run("ln -sfn '\(files.directory.path)/far/off' ..data") }
        #expect(moved.configuration == ["connectors.json"])
        #expect(try await files.change { files.write(Self.text("e"), to: "far/off/connectors.json") }.secrets.isEmpty)
    }

    @Test func `a file and its directory that are deleted and made again are noticed`() async throws {
        files.write(#"{"version": 1, "include": ["sub/more.json"]}"#)
        files.run("mkdir sub")
        files.write(#"{"version": 1, "connectors": []}"#, to: "sub/more.json")
        await files.start()
        #expect(try await files.change { files.run("rm sub/more.json") }.configuration == ["sub/more.json"])
        #expect(try await files.change { files.write("{}", to: "sub/more.json") }.configuration == ["sub/more.json"])
        #expect(try await files.change { files.run("rm -r sub") }.configuration == ["sub/more.json"])
        let again = try await files.change { files.run("mkdir sub && echo '{\"version\": 1}' > sub/more.json") }
        #expect(again.configuration == ["sub/more.json"])
        #expect(try await files.change { files.write("{ }", to: "sub/more.json") }.configuration == ["sub/more.json"])
        #expect(try await files.change { files.run("rm connectors.json") }.configuration.contains("connectors.json"))
        #expect(try await files.change { files.write(Self.text("a")) }.configuration == ["connectors.json"])
    }

    @Test func `files that are absent when the watch begins are noticed when they come`() async throws {
        await files.start()
        #expect(try await files.change { files.write(Self.text("a")) }.configuration == ["connectors.json"])
        #expect(
            try await files.change { files.write("{}", to: "connectors.lock.json") }.configuration == [
                "connectors.lock.json"
            ]
        )
        // An include that is not there yet, in a directory that is not there either.
        _ = try await files.change { files.write(#"{"version": 1, "include": ["sub/more.json"]}"#) }
        let came = try await files.change { files.run("mkdir -p sub && echo '{}' > sub/more.json") }
        #expect(came.configuration == ["sub/more.json"])
    }

    @Test func `changes of secret files in every alternative, and of the modes of these files, are noticed`()
        async throws
    {
        files.write(
            Self.leaf(
                #"{"key": {"secret": ["env:A", "file:one", {"secret": "file:two", "json": "/x"}]}, "b": [{"secret": "file:three"}]}"#
            )
        )
        files.write("1", to: "one")
        await files.start()
        #expect(try await files.change { files.write("2", to: "one") } == ([], ["one"]))
        #expect(try await files.change { files.write("2", to: "two") } == ([], ["two"]))
        #expect(try await files.change { files.write("3", to: "three") } == ([], ["three"]))
        #expect(try await files.change { files.run("chmod 600 one") } == ([], ["one"]))
    }

    @Test func `plugins in the directories, in folders that come later, and by path are noticed`() async throws {
        files.write(
            #"{"version": 1, "plugins": ["plugins"], "connectors": [{"name": "gate", "plugin": "./own/libown.so"}]}"#
        )
        await files.start()
        let ending = DirectoryListing.imageEnding
        _ = try await files.change { files.run("mkdir -p plugins/new && echo 1 > plugins/new/libnew\(ending)") }
        let replaced = try await files.change { files.run("echo 2 > new && mv new plugins/new/libnew\(ending)") }
        #expect(replaced.configuration == ["plugins/new/libnew\(ending)"])
        // As an in-place copy does, with the same size and time.
        let written = try await files.change {
            files.run("cd plugins/new && cat libnew\(ending) > /dev/null && echo 3 > libnew\(ending)")
        }
        #expect(written.configuration == ["plugins/new/libnew\(ending)"])
        let own = try await files.change { files.run("mkdir own && echo 1 > own/libown.so") }
        #expect(own.configuration.contains { $0.hasSuffix("own/libown.so") })
        let link = try await files.change { files.run("ln -s ../own/libown.so plugins/liblink\(ending)") }
        #expect(link.configuration == ["plugins/liblink\(ending)"])
    }

    @Test func `a change that causes no event, as when a file is mounted over, is found by looking again`() async {
        files.write(Self.text("a"))
        await files.start(hearsEvents: false)
        await files.clock.timer(dueAfter: FileWatcher.interval)
        files.write(Self.text("b"))
        files.clock.advance(by: FileWatcher.interval)
        await files.clock.advance(toTimerAfter: FileWatcher.quiet)
        await files.clock.timer(dueAfter: FileWatcher.interval)
        #expect(files.changes.values.map(\.configuration) == [[files.file]])
    }

    @Test(arguments: [ENOSPC, EMFILE, EACCES])
    func `without events the files are polled, and the reason is reported, until events are available`(_ number: Int32)
        async throws
    {
        files.failure.withLock { $0 = SystemError(number) }
        files.write(Self.text("a"))
        await files.start()
        await files.clock.timer(dueAfter: FileWatcher.pollingInterval)
        let mode = files.modes.values.first
        #expect(mode?.hasEvents == false && mode?.reason?.contains("errno \(number)") == true)
        #expect(mode?.reason?.contains("raise fs.inotify.max_user_watches") == (number != EACCES))
        files.write(Self.text("b"))
        files.clock.advance(by: FileWatcher.pollingInterval)
        await files.clock.advance(toTimerAfter: FileWatcher.quiet)
        await files.clock.timer(dueAfter: FileWatcher.pollingInterval)
        #expect(files.changes.values.count == 1)
        files.failure.withLock { $0 = nil }
        files.clock.advance(by: FileWatcher.pollingInterval)
        await files.clock.timer(dueAfter: FileWatcher.interval)
        #expect(files.modes.values.map(\.hasEvents) == [false, true])
        #expect(try await files.change { files.write(Self.text("c")) }.configuration == ["connectors.json"])
    }

    @Test func `a hundred writes are one change, and a file that never rests is a change after a while`() async throws {
        files.write(Self.text("a"))
        await files.start()
        _ = try await files.change { for number in 1...100 { files.write(Self.text("a\(number)")) } }
        #expect(files.changes.values.count == 1)
        let start = files.clock.now()
        var number = 0
        while files.changes.values.count == 1 {
            number += 1
            files.write(Self.text("b\(number)"))
            if files.clock.timerCount > 0 { files.clock.advance(by: .milliseconds(50)) }
            try await Task.checkedYield()
        }
        let waited = files.clock.now() - start
        #expect(waited <= FileWatcher.longestWait.nanoseconds + 1_000_000_000)
    }

    @Test func `files beside the watched ones are ignored, and nothing is reported after the end`() async throws {
        files.write(Self.text("a"))
        await files.start()
        await files.clock.timer(dueAfter: FileWatcher.interval)
        files.write("x", to: "other")
        // The watched file is written after the other one, so the other's events came first.
        _ = try await files.change { files.write(Self.text("b")) }
        #expect(files.changes.values.count == 1)
        try await files.end()
        files.write(Self.text("c"))
        #expect(files.changes.values.count == 1)
    }

    @Test func `following links that lead to each other comes to an end`() {
        files.run("ln -s b a && ln -s a b")
        let route = PathLookups(of: "\(files.directory.path)/a")
        #expect(route.target == nil && route.lookups.count <= 512)
        #expect(PathLookups(of: "/").target == "/")
        #expect(PathLookups(of: "/../..").target == "/")
    }
}
