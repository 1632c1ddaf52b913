// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorBase
    import ConnectorHostTesting
    import ConnectorManifest
    import ConnectorTestSupport
    import Glibc
    import Synchronization
    import Testing

    @testable import ConnectorHost
    @testable import ConnectorInvocation
    @testable import ConnectorIsolation
    @testable import ConnectorPlatform

    /// Messages of every kind, damaged, between a host and a runner that are at work: each is taken, or ends the runner with a reason.
    @Suite(
        .timeLimit(.minutes(30)),
        .serialized,
        .enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer")
    )
    struct FrameMutationTests {
        private static let kinds = (0...UInt16(255)).compactMap { MessageKind(rawValue: $0) }
        private static let rounds = max(3, fuzzRounds / 6)

        private static let texts = [
            "", "null", #"{"a":[1]}"#, "crash", "begin", "open", "probe", "destroy", "http/1", "http://127.0.0.1:1/",
            "GET",
        ]

        /// What a message of a kind says, to the host or to its runner.
        ///
        /// - Parameter ids: The calls that are pending.
        private static func payload(
            of kind: MessageKind,
            _ ids: [UInt64],
            using random: inout SeededGenerator
        ) -> [UInt8] {
            func text() -> String { texts.randomElement(using: &random) ?? "" }
            func flag() -> Bool { Bool.random(using: &random) }
            func number() -> UInt64 { UInt64.random(in: 0...9, using: &random) }
            func id() -> UInt64 { flag() ? ids.randomElement(using: &random) ?? 1 : number() }
            var message = MessageWriter()
            switch kind {
            case .created:
                for _ in 0..<3 { message.put(flag()) }
            case .refused: ConnectorError(.failed, text(), fix: text()).put(to: &message)
            case .completed:
                message.put(id())
                let isWell = flag()
                message.put(isWell)
                if isWell { message.put(text()) } else { ConnectorError(.failed, text()).put(to: &message) }
            case .progress:
                message.put(id())
                message.put("null")
            case .returned, .cancel, .requestCancel, .requestResume, .gateCancel, .wallTime, .timerFired, .timerCancel:
                message.put(id())
            case .inLine:
                message.put(id())
                message.put(UInt8.random(in: 0...3, using: &random))
            case .lifeCycle:
                message.put(["cancel", "destroy", PluginFunction.callback].randomElement(using: &random) ?? "")
                message.put(flag())
            case .misbehaved, .weakened, .denied: message.put(text())
            case .log:
                message.put(id())
                message.put(Int32.random(in: -1...6, using: &random))
                message.put(text())
                message.put(flag())
                message.put("{}")
            case .emit:
                message.put(text())
                message.put(true)
                message.put(text())
            case .storageGet, .storageRemove, .storageList, .gateBound:
                message.put(id())
                message.put(text())
            case .storageSet:
                message.put(id())
                message.put(text())
                message.put(text())
            case .storageReplace:
                message.put(id())
                message.put(text())
                message.put(flag())
                message.put(text())
                message.put(text())
            case .request:
                for _ in 0..<3 { message.put(id()) }
                message.put(flag())
                message.put(number())
                message.put(flag())
                message.put(UInt32(0))
                message.put(text())
                message.put(text())
                message.put([text(), text()]) { message, name in
                    message.put(name)
                    message.put("value")
                }
                message.put(false)
                message.put(UInt64(0))
                message.put(UInt64.max)
            case .requestWrite:
                message.put(id())
                message.put(id())
                message.put(text())
                message.put(flag())
            case .gateCall:
                for _ in 0..<3 { message.put(id()) }
                message.put(text())
                message.put(text())
                message.put(false)
                message.put(UInt64.max)
            case .begin:
                message.put(text())
                message.put(number())
                message.put(UInt64.max)
            case .call:
                message.put(number())
                message.put(["process", "judged", "nothing"].randomElement(using: &random) ?? "")
                message.put(UInt64.max)
                message.put(flag() ? ["how"] : []) { message, name in
                    message.put(name)
                    CallValue.bytes(Array("silent".utf8)).put(to: &message)
                }
            case .answer, .gateReply:
                message.put(number())
                message.put(Int32(0))
                message.put(false)
                message.put(text())
            case .reply:
                message.put(number())
                message.put(UInt8.random(in: 0...3, using: &random))
                message.put(Int32(0))
                message.put(false)
                message.put(false)
            default: message.put(text())
            }
            return message.bytes
        }

        private static func damage(_ payload: inout [UInt8], using random: inout SeededGenerator) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: payload = Array(payload.prefix(Int.random(in: 0...payload.count, using: &random)))
            case 1:
                for _ in 0..<3 where !payload.isEmpty {
                    let index = Int.random(in: 0..<payload.count, using: &random)
                    payload[index] = UInt8.random(in: 0...255, using: &random)
                }
            case 2: payload += payload
            default:
                let count = Int.random(in: 0...64, using: &random)
                payload = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
        }

        /// A host with a gate in a runner, without a sandbox: in a namespace of its own, a runner is spared signals.
        private static func opened() async throws -> ConnectorHost {
            let host = try ConnectorHost.testing(
                "[\(TestHost.leaf("gate", plugin: "crashes", settings: RunnerCallTests.numbered))]",
                plugins: [Fixtures.contract("crashes")],
                clock: SystemHostClock()
            )
            let report = await host.open()
            #expect(report.isReady, "\(report["gate"]?.error?.description ?? "")")
            return host
        }

        /// How a runner has ended, which is no fault of its own; nil if it lives.
        private static func end(of runner: Runner) async throws -> RunnerEnd? {
            guard !runner.isAlive else { return nil }
            await runner.ended.wait()
            let end = try #require(runner.end)
            let faults = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGSEGV]
            #expect(!faults.contains(end.signal), "seed \(fuzzSeed): \(end.description), \(end.lines)")
            return end
        }

        @Test func `a function that is not of a plugin's life ends the runner that says that it runs`() async throws {
            let host = try await Self.opened()
            let channel = try host.remoteChannel("gate")
            var message = MessageWriter()
            message.put("\u{1B}[2J")
            message.put(true)
            let (number, payload) = (channel.state.withLock(\.number), message.bytes)
            try channel.runner.take(Frame(kind: .lifeCycle, instance: number, payload: payload, descriptor: nil))
            // The opening may have completed just before its function returns.
            #expect(channel.functionsInside.allSatisfy { $0.name == "open" })
            await channel.runner.ended.wait()
            #expect(channel.runner.end?.description.hasPrefix("it broke the protocol") == true)
            await host.close()
        }

        @Test func `what a runner sends of a gate at work is taken, or ends the runner, and the host goes on`()
            async throws
        {
            var random = SeededGenerator(seed: fuzzSeed)
            // Of a gate that does not follow the host's clock.
            let ofRunners = Self.kinds.filter {
                $0.rawValue >= 64 && ![.ready, .monotonicTime, .timerStart].contains($0)
            }
            var ends = 0
            for _ in 0..<Self.rounds {
                let host = try await Self.opened()
                let channel = try host.remoteChannel("gate")
                let call = Task { try? await host.gate("gate").call("begin", ["how": "silent"]) }
                while !channel.state.withLock({ $0.pending.values.contains { $0.name == "begin" } }) {
                    try await Task.checkedYield()
                }
                let (ids, instance) = channel.state.withLock { (Array($0.pending.keys), $0.number) }
                for step in 0..<60 {
                    // First what a runner may send, though not at any time.
                    let isDamaged = step >= 40
                    let kind = (isDamaged ? Self.kinds : ofRunners).randomElement(using: &random) ?? .pong
                    var payload = Self.payload(of: kind, ids, using: &random)
                    if isDamaged, Bool.random(using: &random) { Self.damage(&payload, using: &random) }
                    let about = Int.random(in: 0..<8, using: &random) == 0 ? 4711 : instance
                    // The thread that reads would end the runner after an error; here, the others come all the same.
                    _ = try? channel.runner.take(
                        Frame(kind: kind, instance: about, payload: payload, descriptor: nil)
                    )
                }
                call.cancel()
                _ = await call.value
                if try await Self.end(of: channel.runner) != nil { ends += 1 }
                await host.close()
                #expect(host.dependencies.runners.runners.isEmpty)
            }
            print("runners that sent damaged messages: \(Self.rounds), ended: \(ends)")
            #expect(ends > 0)
        }

        @Test func `what a runner is sent about a gate at work is taken, or ends it with a reason`() async throws {
            var random = SeededGenerator(seed: fuzzSeed &+ 1)
            // One instance is made and destroyed once, by the host.
            let kinds = Self.kinds.filter { $0 != .dispose }
            var ends = 0
            for _ in 0..<Self.rounds {
                let host = try await Self.opened()
                let channel = try host.remoteChannel("gate")
                let runner = channel.runner
                let instance = channel.state.withLock(\.number)
                for _ in 0..<60 {
                    let kind = kinds.randomElement(using: &random) ?? .ping
                    var payload = Self.payload(of: kind, [], using: &random)
                    if Bool.random(using: &random) { Self.damage(&payload, using: &random) }
                    let about = Int.random(in: 0..<8, using: &random) == 0 ? 4711 : instance
                    runner.send(kind, instance: about, payload)
                }
                let ping = runner.state.withLock { state in
                    state.ping += 1
                    return state.ping
                }
                runner.send(.ping, instance: 0, [])
                while runner.isAlive, runner.state.withLock({ $0.pong < ping }) { try await Task.checkedYield() }
                if try await Self.end(of: runner) != nil { ends += 1 }
                await host.close()
                #expect(host.dependencies.runners.runners.isEmpty)
            }
            print("runners that were sent damaged messages: \(Self.rounds), ended: \(ends)")
        }
    }
#endif
