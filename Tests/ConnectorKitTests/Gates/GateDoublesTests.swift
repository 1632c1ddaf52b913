// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities
internal import ConnectorKit
internal import Synchronization
internal import Testing

/// Doubles for the gates that a plugin uses, and the typed values over them.
@Suite struct GateDoublesTests {
    private func host(_ answer: JSONValue) -> Host {
        Host(gates: GateDoubles(["it": { _, _ throws(PluginError) in answer }]))
    }

    @Test func `a double receives the operation and the arguments`() async throws {
        let host = Host(
            gates: GateDoubles([
                "settings": { operation, arguments throws(PluginError) in
                    guard operation == "get" else { throw PluginError(.unsupported, operation) }
                    return ["was": arguments]
                }
            ])
        )
        let settings = host.gate("settings", as: UsedSettings.self)
        #expect(try await settings.value(of: "theme") == ["was": ["key": "theme"]])
        let refused = await #expect(throws: PluginError.self) { try await settings.remove("theme") }
        #expect(refused?.status == .unsupported)
        let stranger = await #expect(throws: PluginError.self) { try await host.gate("other").call("get") }
        #expect(stranger?.status == .invalid)
    }

    @Test func `typed values read the capability's models`() async throws {
        #expect(try await host(.null).gate("it", as: UsedSettings.self).value(of: "a") == nil)
        #expect(try await host(["a": 1]).gate("it", as: UsedSettings.self).list().members.count == 1)
        let coordinate = try #require(Coordinate(latitude: 1.5, longitude: 2.5))
        let answer = JSONValue.array([Place(coordinate, provider: "test").json])
        let places = try await host(answer).gate("it", as: UsedGeocoder.self).reverse(ReverseRequest(coordinate))
        #expect(places.count == 1)
        let database = host(["id": "7", "data": ["a": 1]]).gate("it", as: UsedDatabase.self)
        #expect(try await database.get("7", in: "things").id == "7")
        let twice = DatabaseQuery([.init("a", .less, 1), .init("a", .less, 2)])
        let refused = await #expect(throws: PluginError.self) { try await database.query(twice, in: "things") }
        #expect(refused?.status == .invalid)
    }

    @Test func `an answer that breaks the capability's rules is the used gate's fault`() async throws {
        let error = await #expect(throws: PluginError.self) {
            try await host(7).gate("it", as: UsedGeocoder.self).geocode(GeocodeRequest(.text("x")))
        }
        #expect(error?.status == .protocolViolation)
        let start = #"the answer of the used gate "it" to "geocode" breaks the capability's rules: "#
        #expect(error?.message.hasPrefix(start) == true)
    }

    @Test func `events and reports arrive as models`() async throws {
        let (events, reports) = (AnalyticsDouble(), CrashDouble())
        let host = Host(gates: GateDoubles(["events": events.double, "crash": reports.double]))
        try await host.gate("events", as: UsedAnalytics.self).track("Seen", ["page": 1], userId: "u")
        var login = AnalyticsEvent(.identify, userId: "u")
        login.traits = ["plan": "pro"]
        try await host.gate("events", as: UsedAnalytics.self).send(login)
        #expect(events.events.map(\.type) == [.track, .identify])
        #expect(events.events[0].event == "Seen" && events.events[0].properties == ["page": 1])
        let answer = try await host.gate("crash", as: UsedCrash.self).report(
            PluginError(.failed, "no"),
            tags: ["a": "b"]
        )
        try await host.gate("crash", as: UsedCrash.self).send(CrashReport(level: .info, message: "hello"))
        #expect(answer == .accepted(id: reports.reports[0].id) && reports.reports[0].tags == ["a": "b"])
        #expect(reports.reports[1].message == "hello")
        let refused = await #expect(throws: PluginError.self) {
            try await host.gate("events", as: UsedAnalytics.self).track("Seen")
        }
        #expect(refused?.status == .invalid)
    }

    @Test func `a sensor double answers the latest readings, those of one sensor, and those of a range`() async throws {
        let readings = try [1, 2].map { second in
            try SensorReading("load", Double(second), unit: "1", at: Timestamp(nanoseconds: second * 1_000_000_000))
        }
        let double = SensorDouble(readings)
        let sensor = Host(gates: GateDoubles(["it": double.double])).gate("it", as: UsedSensor.self)
        #expect(try await sensor.latest() == [readings[1]])
        #expect(try await sensor.latest(of: "load") == readings[1])
        #expect(try await sensor.readings(in: SensorRange("load", to: readings[0].time)) == [readings[0]])
        let unknown = await #expect(throws: PluginError.self) { try await sensor.latest(of: "noise") }
        #expect(unknown?.status == .notFound)
    }

    @Test func `files travel in parts, and a failed upload is aborted`() async throws {
        let double = FilesDouble(partSize: 3)
        let files = Host(gates: GateDoubles(["it": double.double])).gate("it", as: UsedFiles.self)
        let content = Array("ten bytes.".utf8)
        let entry = try await files.put("a/one.txt", content, contentType: "text/plain", condition: .absent)
        #expect(entry.size == 10 && entry.contentType == "text/plain" && double["a/one.txt"] == content)
        #expect(try await files.get("a/one.txt") == content)
        let large = await #expect(throws: PluginError.self) { try await files.get("a/one.txt", upTo: 9) }
        #expect(large?.status == .tooLarge)
        let conflict = await #expect(throws: PluginError.self) {
            try await files.put("a/one.txt", [1], condition: .absent)
        }
        #expect(conflict?.status == .conflict && double.uploads == 0)
        try await files.copy("a/one.txt", to: "b.txt")
        #expect(try await files.list(limit: 1).files.map(\.path) == ["a/one.txt"])
        try await files.remove("a/one.txt")
        #expect(try await files.list().files.map(\.path) == ["b.txt"])
        let missing = await #expect(throws: PluginError.self) { try await files.head("a/one.txt") }
        #expect(missing?.status == .notFound)
    }

    @Test func `a put begins again if the store does not know its upload any more, three times at most`() async throws {
        let double = FilesDouble(partSize: 3)
        let forgotten = Mutex(2)
        let host = Host(
            gates: GateDoubles([
                "it": { operation, arguments async throws(PluginError) in
                    guard operation == "completeUpload" else { return try await double.double(operation, arguments) }
                    let isForgotten = forgotten.withLock { left in
                        left -= 1
                        return left >= 0
                    }
                    guard !isForgotten else { throw PluginError(.notFound, "there is no upload") }
                    return try await double.double(operation, arguments)
                }
            ])
        )
        let files = host.gate("it", as: UsedFiles.self)
        #expect(try await files.put("a", [1, 2, 3, 4]).size == 4)
        #expect(double["a"] == [1, 2, 3, 4] && double.uploads == 0)
        forgotten.withLock { $0 = 3 }
        let error = await #expect(throws: PluginError.self) { try await files.put("b", [1]) }
        #expect(error?.status == .notFound && double["b"] == nil && double.uploads == 0)
    }

    private static let busy = PluginError(.rateLimited, "slow down", retryAfter: .seconds(7))
    private static let away = PluginError(.unavailable, "no answer")

    @Test(
        arguments: ["uploadPart", "completeUpload", "get"],
        [
            (away, 2, [.milliseconds(500), .seconds(1)]), (away, 3, [.milliseconds(500), .seconds(1)]),
            (busy, 2, [.seconds(7), .seconds(7)]),
            (PluginError(.rateLimited, "later", retryAfter: .seconds(30)), 1, []),
            (PluginError(.invalid, "never"), 1, []),
            (PluginError(.tooLarge, "a gateway's limit", isRetryable: true), 1, []),
        ] as [(PluginError, Int, [Duration])]
    )
    func `a call whose error may pass is made three times at most, after the waits that the store asks for`(
        _ refused: String,
        _ refusal: (error: PluginError, times: Int, pauses: [Duration])
    ) async throws {
        let (double, clock) = (FilesDouble(), StoppedClock())
        let refusals = Mutex(0)
        let gates = GateDoubles([
            "it": { operation, arguments async throws(PluginError) in
                if operation == refused, refusals.withLock({ $0 < refusal.times }) {
                    refusals.withLock { $0 += 1 }
                    throw refusal.error
                }
                return try await double.double(operation, arguments)
            }
        ])
        let files = Host(clock: clock, gates: gates).gate("it", as: UsedFiles.self)
        func transfer() async throws {
            try await files.put("a", [1])
            #expect(try await files.get("a") == [1])
        }
        if refusal.times == 2 {
            try await transfer()
        } else {
            let error = await #expect(throws: PluginError.self) { try await transfer() }
            #expect(error == refusal.error)
        }
        #expect(clock.sleeps == refusal.pauses && refusals.withLock(\.self) == refusal.times && double.uploads == 0)
    }

    @Test func `an upload that is gone after a failed attempt names that attempt's reason`() async throws {
        let double = FilesDouble()
        let parts = Mutex(0)
        let gates = GateDoubles([
            "it": { operation, arguments async throws(PluginError) in
                guard operation == "uploadPart" else { return try await double.double(operation, arguments) }
                let isFirst = parts.withLock { count in
                    count += 1
                    return count % 2 == 1
                }
                throw isFirst
                    ? PluginError(.unavailable, "the bucket moved") : PluginError(.notFound, "there is no upload")
            }
        ])
        let files = Host(clock: StoppedClock(), gates: gates).gate("it", as: UsedFiles.self)
        let error = await #expect(throws: PluginError.self) { try await files.put("a", [1]) }
        #expect(error?.status == .notFound && parts.withLock(\.self) == 6)
        #expect(error?.message == "there is no upload; the attempt before failed: the bucket moved")
    }

    @Test func `a failed upload is aborted even if the call has run out of time`() async throws {
        let deadlines = Mutex<[String: UInt64]>([:])
        let host = Host(
            gates: GateDoubles([
                "it": { operation, _ throws(PluginError) in
                    deadlines.withLock { $0[operation] = Deadline.current }
                    guard operation == "uploadPart" else { return FileUpload(id: "u", partSize: 1).json }
                    throw PluginError(.timedOut, "the deadline passed")
                }
            ])
        )
        let error = await #expect(throws: PluginError.self) {
            try await Deadline.apply(7) { try await host.gate("it", as: UsedFiles.self).put("a", [1]) }
        }
        #expect(error?.status == .timedOut)
        #expect(deadlines.withLock(\.self) == ["createUpload": 7, "uploadPart": 7, "abortUpload": .max])
    }

    @Test func `changed files, and parts and sizes that do not fit, are refused as by a real store`() async throws {
        let double = FilesDouble(partSize: 3)
        let gate = Host(gates: GateDoubles(["it": double.double])).gate("it")
        let upload: JSONValue = try await gate.call("createUpload", ["file": ["path": "a"]])["upload"] ?? .null
        func add(_ bytes: [UInt8], at offset: Int64) async throws {
            let content: JSONValue = ["base64": .string(Base64.encode(bytes))]
            _ = try await gate.call("uploadPart", ["upload": upload, "offset": .integer(offset), "content": content])
        }
        func status(_ body: () async throws -> Void) async -> PluginStatus? {
            await #expect(throws: PluginError.self) { try await body() }?.status
        }
        try await add([1, 2, 3], at: 0)
        for offset in [Int64.min, -3, 1, 6] { #expect(await status { try await add([4], at: offset) } == .invalid) }
        #expect(await status { try await add([], at: 3) } == .invalid)
        for _ in 1...2 { try await add([4], at: 3) }
        #expect(await status { try await add([5], at: 4) } == .invalid)
        let short = await status { _ = try await gate.call("completeUpload", ["upload": upload, "size": 3]) }
        #expect(short == .invalid && double["a"] == nil)
        let tag = try await gate.call("completeUpload", ["upload": upload, "size": 4])["tag"] ?? .null
        #expect(double["a"] == [1, 2, 3, 4])
        let arguments: JSONObject = ["path": "a", "offset": 0, "count": 4, "tag": tag]
        #expect(try await gate.call("get", arguments)["base64"] == "AQIDBA==")
        let tooMany = Int64(FileEntry.partLimit) + 1
        for (offset, count) in [(-1, 4), (0, -1), (0, 0), (0, tooMany)] as [(Int64, Int64)] {
            var odd = arguments
            (odd["offset"], odd["count"]) = (.integer(offset), .integer(count))
            #expect(await status { _ = try await gate.call("get", odd) } == .invalid)
        }
        _ = try await gate.call("copy", ["source": "a", "destination": "a"])
        #expect(await status { _ = try await gate.call("get", arguments) } == .conflict)
    }

    @Test func `a double of files refuses paths that no store takes, and tells apart those that only look the same`()
        async throws
    {
        let double = FilesDouble()
        let files = Host(gates: GateDoubles(["it": double.double])).gate("it", as: UsedFiles.self)
        func status(_ body: () async throws -> Void) async -> PluginStatus? {
            await #expect(throws: PluginError.self) { try await body() }?.status
        }
        for path in ["", "../x", "a//b", "/a"] {
            #expect(await status { _ = try await files.head(path) } == .invalid)
            #expect(await status { try await files.remove(path) } == .invalid)
            #expect(await status { _ = try await files.copy(path, to: "b") } == .invalid)
            #expect(await status { _ = try await files.put(path, [1]) } == .invalid)
        }
        try await files.put("caf\u{e9}", [1])
        #expect(await status { _ = try await files.copy("caf\u{e9}", to: "..") } == .invalid)
        try await files.put("cafe\u{301}", [2])
        #expect(double["caf\u{e9}"] == [1] && double["cafe\u{301}"] == [2])
        #expect(try await files.list().files.count == 2)
    }

    @Test(arguments: [0, 2, 4])
    func `a part that does not have as many bytes as were asked for breaks the rules of files`(count: Int) async throws
    {
        let entry = FileEntry(path: "a", size: 3, modified: Timestamp(nanoseconds: 0), tag: "t")
        let files = Host(
            clock: StoppedClock(),
            gates: GateDoubles([
                "it": { operation, _ throws(PluginError) in
                    guard operation == "get" else { return entry.json }
                    return ["base64": .string(Base64.encode([UInt8](repeating: 7, count: count)))]
                }
            ])
        ).gate("it", as: UsedFiles.self)
        let error = await #expect(throws: PluginError.self) { try await files.get("a") }
        #expect(error?.status == .protocolViolation)
    }

    @Test func `a size that a store only claims takes no memory`() async throws {
        let claimed = FileEntry(path: "a", size: 1 << 62, modified: Timestamp(nanoseconds: 0), tag: "t")
        let files = Host(
            clock: StoppedClock(),
            gates: GateDoubles([
                "it": { operation, _ throws(PluginError) in
                    guard operation == "get" else { return claimed.json }
                    throw PluginError(.unavailable, "the store is away")
                }
            ])
        ).gate("it", as: UsedFiles.self)
        let error = await #expect(throws: PluginError.self) { try await files.get("a", upTo: .max) }
        #expect(error?.status == .unavailable)
    }

    @Test func `an optional gate is nil if nothing is bound to it`() async throws {
        #expect(host("dark").optionalGate("other", as: UsedSettings.self) == nil)
        #expect(try await host("dark").optionalGate("it", as: UsedSettings.self)?.value(of: "theme") == "dark")
        #expect(Host().optionalGate("it") == nil)
    }

    @Test func `a plugin without uses is denied`() async throws {
        let error = await #expect(throws: PluginError.self) { try await Host().gate("settings").call("get") }
        #expect(error?.status == .denied)
    }
}
