// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorIsolation
@testable import ConnectorLoading
@testable import ConnectorManifest
@testable import ConnectorPlatform

#if os(Linux)
    import Glibc

    /// Damaged images are refused before they are loaded, all but a few.
    @Suite(.timeLimit(.minutes(30))) struct ImageMutationTests {
        /// The built command, beside which the tests are built.
        static let program: String = {
            var buffer = [CChar](repeating: 0, count: 4096)
            let count = max(0, unsafe readlink("/proc/self/exe", &buffer, buffer.count))
            return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self).parentPath
                + "/connector-host"
        }()

        @Test(.enabled(if: !Sanitizer.isPresent, "the program is not built for a sanitizer"))
        func `of the damaged images that pass inspection, at most one in thirty ends the process`() throws {
            var random = SeededGenerator(seed: fuzzSeed)
            let names = ["sync", "timer", "frozen-c", "http"]
            let mutators = try names.map { try ImageMutator(Fixtures.bytes(Fixtures.plugin($0))) }
            var (passed, ended) = (0, 0)
            try Fixtures.withDirectory { directory in
                for _ in 0..<fuzzRounds {
                    let index = Int.random(in: 0..<names.count, using: &random)
                    let path = "\(directory)/lib\(names[index]).so"
                    try Fixtures.write(mutators[index].mutant(using: &random), to: path)
                    guard PluginInspection(path: path).problems.isEmpty else { continue }
                    passed += 1
                    let configuration = """
                        {"version": 1, "connectors": [{"name": "a", "plugin": "\(path)", "timeout": "5s"}]}
                        """
                    try Fixtures.write(Array(configuration.utf8), to: "\(directory)/connectors.json")
                    let status = Fixtures.run(
                        "exec timeout 60 '\(Self.program)' status --config '\(directory)/connectors.json' > /dev/null 2>&1"
                    )
                    // Of timeout(1), or of a signal.
                    if status >= 124 { ended += 1 }
                }
            }
            print("mutants: \(fuzzRounds), passed: \(passed), ended the process: \(ended)")
            #expect(passed > 0)
            #expect(ended <= 1 + passed / 30, "seed \(fuzzSeed)")
        }

        /// In runners, which are ended by those that would end a process: this one lives, and nothing is left of them.
        @Test(.enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
        func `no damaged image that passes inspection ends the host of its runner`() async throws {
            var random = SeededGenerator(seed: fuzzSeed)
            let names = ["sync", "timer", "frozen-c"]
            let mutators = try names.map { try ImageMutator(Fixtures.bytes(Fixtures.plugin($0))) }
            let directory = ScratchDirectory()
            defer { directory.remove() }
            let descriptors = Self.descriptors
            let leftovers = try Self.leftovers()
            var states: [GateState: Int] = [:]
            for round in 0..<fuzzRounds {
                let index = Int.random(in: 0..<names.count, using: &random)
                let image = mutators[index].mutant(using: &random)
                let path = try directory.write("lib\(names[index])-\(round).so", image, mode: 0o700)
                guard PluginInspection(path: path).problems.isEmpty else { continue }
                let leaf =
                    #"[{"name": "a", "plugin": "\#(path)", "timeout": "5s", "isolation": "process", "heal": "off", "probe": "off"}]"#
                // A damaged manifest may require other fields.
                guard let host = try? ConnectorHost.testing(leaf, clock: SystemHostClock()) else { continue }
                let gate = try #require(await host.open()["a"])
                states[gate.state, default: 0] += 1
                #expect(gate.state == .open || gate.error != nil)
                let ends = host.runnerEnds
                await host.close()
                for end in ends { await end.wait() }
                #expect(host.dependencies.runners.runners.isEmpty)
            }
            print("damaged images in runners: \(states)")
            #expect(states.values.reduce(0, +) > 0)
            // Libraries keep a few descriptors for good, but not one for each image.
            #expect(Self.descriptors <= descriptors + 16)
            #expect(try Self.leftovers().subtracting(leftovers).isEmpty)
        }

        /// What runners, and the host for them, might leave in shared memory and among temporary files.
        private static func leftovers() throws -> Set<String> {
            let parent = ConnectorPlatform.TemporaryDirectory.parent
            let temporary = try Directory.entries(of: parent).map(\.name).filter { name in
                // As PrivateDirectory names them. Other tests, of which some run beside this one, have longer names.
                name.hasPrefix("connector-") && !name.dropFirst("connector-".count).contains("-")
            }
            return Set(try Directory.entries(of: "/dev/shm").map(\.name) + temporary)
        }

        private static var descriptors: Int { (0..<4096).count { fcntl($0, F_GETFD) >= 0 } }
    }
#endif
