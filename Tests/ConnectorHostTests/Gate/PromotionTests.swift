// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorHostTesting
    import ConnectorManifest
    import ConnectorTestSupport
    import Glibc
    import Logging
    import Synchronization
    import Testing

    @testable import ConnectorHost
    @testable import ConnectorLoading
    @testable import ConnectorPlatform

    /// Where plugins with `"isolation": "auto"` run.
    @Suite(.timeLimit(.minutes(5)))
    struct PromotionTests {
        private let directory = ScratchDirectory()
        private let start = Timestamp(nanoseconds: 1_800_000_000_000_000_000)
        private let image = Fixtures.contract("calls")
        private let week: Duration = .seconds(7 * 24 * 3600)

        private var candidate: PluginCandidate {
            get throws { try PluginCatalog.candidate(path: image) }
        }

        private func promotions(_ crash: CrashNote? = nil) -> Promotions {
            Promotions(
                state: directory.path,
                crash: crash,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
        }

        private func later(_ duration: Duration) -> Timestamp {
            Timestamp(nanoseconds: start.nanoseconds + duration.nanoseconds)
        }

        private var files: [String] {
            get throws { try Directory.entries(of: "\(directory.path)/isolation").map(\.name).sorted() }
        }

        /// Leaves a mark as a process that dies does.
        private func abandonMark(of other: PluginCandidate? = nil, process: Int64 = 7) throws {
            let image = try other ?? candidate
            let digest = try #require(ImageDigests().digest(of: image))
            let note: JSONValue = [
                "version": 1, "plugin": "calls 1.0.0", "process": .integer(process), "at": .string(start.description),
            ]
            try Directory.makePrivate("\(directory.path)/isolation")
            try OutputFile.replace(
                "\(directory.path)/isolation/\(digest).\(process).1\(MarkFile.suffix)",
                with: note.utf8(),
                mode: 0o600
            )
        }

        /// A note of the calls plugin, or of another one.
        private func note(_ members: String, seconds: UInt64? = nil) throws -> CrashNote {
            let seconds = seconds ?? start.nanoseconds / 1_000_000_000
            let text = #"{"version": 1, "event": "SIGSEGV", "seconds": \#(seconds), \#(members)}"#
            return try #require(CrashNote(text: Array(text.utf8)))
        }

        @Test func `a mark is private, and gone once it is cleared`() throws {
            let mark = try #require(promotions().mark(candidate, at: start))
            let name = try #require(try files.first)
            #expect(name.hasSuffix(MarkFile.suffix))
            var status = stat()
            #expect(unsafe stat("\(directory.path)/isolation/\(name)", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            mark.clear()
            mark.clear()
            #expect(try files.isEmpty)
        }

        @Test func `the mark of a process that lives promotes no plugin`() throws {
            let mark = try #require(promotions().mark(candidate, at: start))
            #expect(try promotions().promotion(of: candidate, quiet: week, at: start) == nil)
            #expect(try files.count == 1)
            mark.clear()
        }

        @Test func `a mark that its process removes while another process looks at it is not abandoned`() throws {
            let mark = try #require(promotions().mark(candidate, at: start))
            let path = "\(directory.path)/isolation/\(try #require(try files.first))"
            let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            #expect(!LockedFile.lockAbandoned(file))
            mark.clear()
            #expect(!LockedFile.lockAbandoned(file))
        }

        @Test func `an abandoned mark promotes the plugin until it has been quiet`() throws {
            try abandonMark()
            let promotion = try #require(try promotions().promotion(of: candidate, quiet: week, at: start))
            #expect(promotion.reason == "the process ended while it opened the plugin")
            #expect(promotion.at == start && promotion.until == later(week))
            #expect(try files.allSatisfy { $0.hasSuffix(".crash") })
            let almost = later(week - .seconds(1))
            #expect(try promotions().promotion(of: candidate, quiet: week, at: almost) == promotion)
            #expect(try promotions().promotion(of: candidate, quiet: week, at: later(week)) == nil)
            #expect(try files.isEmpty)
        }

        @Test func `another crash, in the runner, restarts the quiet time`() throws {
            try abandonMark()
            let promotions = promotions()
            _ = try promotions.promotion(of: candidate, quiet: week, at: start)
            promotions.runnerEnded(try candidate, "it was killed", at: later(.seconds(60)))
            let promotion = try #require(try promotions.promotion(of: candidate, quiet: week, at: later(week)))
            #expect(promotion.reason == "it was killed" && promotion.until == later(week + .seconds(60)))
        }

        @Test func `a crash note that names the plugin promotes it, and any other note does not`() throws {
            let name = try candidate.name
            // In the future of the image, which the tests have just built.
            let own = try note(#""plugin": "\#(name)", "path": "\#(image)""#)
            let promotion = try #require(try promotions(own).promotion(of: candidate, quiet: week, at: start))
            #expect(promotion.reason.contains("SIGSEGV"), "\(promotion)")
            #expect(try promotions(own).promotion(of: candidate, quiet: week, at: later(week)) == nil)
            #expect(try promotions(own).promotion(of: candidate, quiet: week, at: later(week + week)) == nil)
            let other = ScratchDirectory()
            for members in [
                #""plugin": "other 1.0.0""#, #""plugin": "\#(name)", "path": "/elsewhere.so""#, #""thread": 1"#,
            ] {
                let promotions = Promotions(
                    state: other.path,
                    crash: try note(members),
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                )
                #expect(try promotions.promotion(of: candidate, quiet: week, at: start) == nil, "\(members)")
            }
            let old = try note(#""plugin": "\#(name)", "path": "\#(image)""#, seconds: 1)
            let before = Promotions(
                state: other.path,
                crash: old,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
            #expect(try before.promotion(of: candidate, quiet: week, at: start) == nil)
        }

        @Test func `a crash note promotes the gate of a system library that it names, and no other`() throws {
            let system = try PluginCatalog.candidate(path: "\(Fixtures.plugins)/system.connector.json")
            try #require(system.path == "libm.so.6")
            let text = #"{"manifest": 1, "id": "other", "version": "1.0.0", "abi": [1, 1], "library": "libm.so.6"}"#
            let other = PluginCandidate(
                manifest: try Manifest(parsing: Array(text.utf8)),
                path: "libm.so.6",
                sidecar: nil,
                image: .library("libm.so.6"),
                embeddedText: nil
            )
            for candidate in [system, other] { try #require(promotions().mark(candidate, at: start)).clear() }
            let elsewhere = try note(#""plugin": "\#(system.name)", "path": "libz.so.1""#)
            #expect(promotions(elsewhere).promotion(of: system, quiet: week, at: start) == nil)
            let promotions = promotions(try note(#""plugin": "\#(system.name)", "path": "libm.so.6""#))
            #expect(promotions.promotion(of: system, quiet: week, at: start)?.reason.contains("SIGSEGV") == true)
            #expect(promotions.promotion(of: other, quiet: week, at: start) == nil)
        }

        @Test func `a plugin that was being opened is not promoted if the crash note names another one`() throws {
            try abandonMark(process: 7)
            let innocent = try note(#""plugin": "other 1.0.0", "process": 7"#)
            #expect(try promotions(innocent).promotion(of: candidate, quiet: week, at: start) == nil)
            #expect(try files.isEmpty)
            try abandonMark(process: 7)
            let guilty = try note(#""plugin": "\#(candidate.name)", "path": "\#(image)", "process": 7"#)
            let promotion = try promotions(guilty).promotion(of: candidate, quiet: week, at: start)
            #expect(promotion?.reason.contains("SIGSEGV") == true)
        }

        @Test func `an older note of a process with the same id, as in containers, explains no mark`() throws {
            try abandonMark(process: 1)
            let yesterday = start.nanoseconds / 1_000_000_000 - 24 * 3600
            let other = try note(#""plugin": "other 1.0.0", "process": 1"#, seconds: yesterday)
            let promotion = try promotions(other).promotion(of: candidate, quiet: week, at: start)
            #expect(promotion?.reason == "the process ended while it opened the plugin")
        }

        @Test func `a crash note is about the bytes that were loaded, whatever the time of the file`() throws {
            let file = "\(directory.path)/libcalls.so"
            let replica = { (source: String) in
                try OutputFile.replace(file, with: SystemFile.bytes(of: source, limit: 1 << 24))
                return try PluginCatalog.candidate(path: file)
            }
            let built = try replica(image)
            let name = built.name
            try #require(promotions().mark(built, at: start)).clear()
            // Before the copy was made, by the times of the files alone.
            let crash = try note(#""plugin": "\#(name)", "path": "\#(file)""#)
            let copied = try replica(image)
            #expect(promotions(crash).promotion(of: copied, quiet: week, at: start) != nil)
            // Another build, of any time.
            let other = try #require(ImageDigests().digest(of: candidate))
            #expect(ImageDigests().digest(of: copied) == other)
            var bytes = try SystemFile.bytes(of: image, limit: 1 << 24)
            bytes += [0]
            try OutputFile.replace(file, with: bytes)
            var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
            #expect(unsafe utimensat(AT_FDCWD, file, &times, 0) == 0)
            let mended = try PluginCatalog.candidate(path: file)
            #expect(promotions(crash).promotion(of: mended, quiet: week, at: start) == nil)
        }

        @Test func `a file that is not a mark, and a directory that others may enter, do no harm`() throws {
            let digest = try #require(ImageDigests().digest(of: candidate))
            try Directory.makePrivate("\(directory.path)/isolation")
            for name in ["\(digest).1.1.mark", "\(digest).crash"] {
                try OutputFile.replace("\(directory.path)/isolation/\(name)", with: Array("x".utf8))
            }
            #expect(try promotions().promotion(of: candidate, quiet: week, at: start) == nil)
            #expect(unsafe chmod("\(directory.path)/isolation", 0o777) == 0)
            #expect(try promotions().mark(candidate, at: start) == nil)
        }

        /// A clock that lets a test act, once, when the host asks for the time of day.
        private final class InterposedClock: HostClock {
            let clock = ManualHostClock()
            let onWallTime = Mutex<(@Sendable () -> Void)?>(nil)

            func now() -> UInt64 { clock.now() }
            func wallTime() -> Timestamp {
                onWallTime.withLock { $0.take() }?()
                return clock.wallTime()
            }
            func schedule(after delay: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
                clock.schedule(after: delay, fire)
            }
            func cancel(_ timer: HostTimer) -> Bool { clock.cancel(timer) }
        }

        @Test func `an opening that is given up before its mark is made leaves no mark`() async throws {
            let clock = InterposedClock()
            let host = try ConnectorHost.testing(
                #"[{"name": "gate", "plugin": "calls", "isolation": "auto", "probe": "off"}]"#,
                plugins: [image],
                clock: clock,
                stateDirectory: directory.path + "/state"
            )
            let state = try #require(host.configuration.hostDirectory(state: directory.path + "/state"))
            let gate = try #require(host.current.tree["gate"]?.gate)
            let generation = gate.generation(of: gate.plan)
            let isOver = Monitor(false)
            // The mark carries the time of day, and its image is hashed after that.
            clock.onWallTime.withLock { action in
                action = {
                    generation.giveUp(.gateClosed("gate"))
                    isOver.wait { $0 ? .proceed(()) : .wait(until: nil) }
                }
            }
            let result = await generation.open(by: .max)
            #expect(throws: ConnectorError.self) { try result.get() }
            isOver.withLock { $0 = true }
            isOver.signal()
            while generation.isHeld { try await Task.checkedYield() }
            try #require(generation.state.withLock { $0.mark == nil })
            while try !Directory.entries(of: "\(state)/isolation").isEmpty { try await Task.checkedYield() }
            await generation.end()
            await host.close()
        }

        /// Moves the marks to where a host looks for them, and closes the host, which has made its folder.
        private func moveMarks(to host: ConnectorHost) async throws -> String {
            // The host has a folder of its own in the state directory.
            let state = try #require(host.configuration.hostDirectory(state: directory.path + "/state"))
            await host.close()
            while (try? Directory.entries(of: "\(state)/isolation").isEmpty) == false { try await Task.checkedYield() }
            #expect(unsafe rename("\(directory.path)/isolation", "\(state)/isolation.new") == 0)
            _ = unsafe rmdir("\(state)/isolation")
            #expect(unsafe rename("\(state)/isolation.new", "\(state)/isolation") == 0)
            return state
        }

        @Test(.enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
        func `a promoted gate that fails to open says where it runs, and why`() async throws {
            let plugin = Fixtures.misbehaving("refuses-to-open")
            try abandonMark(of: PluginCatalog.candidate(path: plugin))
            let clock = ManualHostClock()
            clock.setWallTime(start)
            func opened() async throws -> (ConnectorHost, GateReport) {
                let host = try ConnectorHost.testing(
                    #"[{"name": "gate", "plugin": "refuses-to-open", "isolation": "auto", "quiet": "1h", "heal": "off"}]"#,
                    plugins: [plugin],
                    clock: clock,
                    stateDirectory: directory.path + "/state"
                )
                return (host, try #require(await host.open()["gate"]))
            }
            let (probe, first) = try await opened()
            #expect(first.state == .failed && first.isolation == nil && first.promotion == nil, "\(first)")
            _ = try await moveMarks(to: probe)
            let (host, gate) = try await opened()
            #expect(gate.state == .failed && gate.isolation == .process, "\(gate)")
            #expect(gate.promotion?.until == later(.seconds(3600)))
            #expect(host.report.json["gates"]?[0]?["promotion"]?["at"]?.string == start.description)
            await host.close()
        }

        @Test(.enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
        func `a promoted gate runs in a runner, says why, and returns after a quiet time`() async throws {
            try abandonMark()
            let lines = Journal<String>()
            func opened(at time: Timestamp) async throws -> (ConnectorHost, GateReport) {
                let clock = ManualHostClock()
                clock.setWallTime(time)
                let host = try ConnectorHost.testing(
                    #"[{"name": "gate", "plugin": "calls", "isolation": "auto", "quiet": "1h", "probe": "off"}]"#,
                    plugins: [image],
                    clock: clock,
                    stateDirectory: directory.path + "/state",
                    logger: Logger(label: "test") { _ in JournalLogHandler(lines) }
                )
                return (host, try #require(await host.open()["gate"]))
            }
            let (probe, _) = try await opened(at: start)
            let state = try await moveMarks(to: probe)
            let warning = "plugin runs in a runner after a crash"
            #expect(!lines.values.contains(warning))
            let (host, gate) = try await opened(at: start)
            let reason = try #require(gate.promotion?.reason)
            #expect(lines.values.contains(warning) && lines.values.contains(reason), "\(lines.values)")
            #expect(gate.state == .open && gate.isolation == .process, "\(gate)")
            #expect(gate.promotion?.until == later(.seconds(3600)))
            #expect(gate.sandbox?.hasPrefix("sandbox: ") == true)
            let json = host.report.json["gates"]?[0]
            #expect(json?["promotion"]?["at"]?.string == start.description)
            #expect(Report(json: host.report.json)?["gate"]?.promotion == gate.promotion)
            #expect(host.report.runners.map(\.connectors) == [["gate"]])
            await host.close()
            let (next, back) = try await opened(at: later(.seconds(3600)))
            #expect(back.isolation == nil && back.promotion == nil && back.state == .open)
            #expect(next.report.runners.isEmpty)
            await next.close()
            #expect(try Directory.entries(of: "\(state)/isolation").isEmpty)
        }
    }
#endif
