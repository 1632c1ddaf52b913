// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization
internal import Testing

@testable internal import system_sensor

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The adapter that measures the machine it runs on, here one made of files.
@Suite struct SystemSensorTests {
    /// A clock that the test moves, one sleep at a time.
    private final class SteppedClock: ClockService {
        private let steps = AsyncStream.makeStream(of: Void.self)
        private let seconds = Mutex<UInt64>(0)

        var monotonic: UInt64 { seconds.withLock { $0 * 1_000_000_000 } }
        var now: Timestamp { Timestamp(nanoseconds: 1_800_000_000_000_000_000 + monotonic) }

        func step() { steps.continuation.yield() }

        func sleep(for duration: Duration) async throws(PluginError) {
            for await _ in steps.stream {
                seconds.withLock { $0 += UInt64(duration.components.seconds) }
                return
            }
            throw PluginError(.cancelled, "the call was cancelled")
        }
    }

    private let events = AsyncStream.makeStream(of: (String, JSONValue).self)
    private let clock = SteppedClock()
    private let root: String

    init() throws {
        var template = Array("/tmp/connector-sensor-XXXXXX".utf8CString)
        root = try unsafe String(cString: #require(mkdtemp(&template)))
    }

    private func write(_ text: String, to path: String) throws {
        var folder = root
        for part in path.split(separator: "/").dropLast() {
            folder += "/\(part)"
            unsafe mkdir(folder, 0o700)
        }
        let file = unsafe open("\(root)/\(path)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let bytes = Array(text.utf8)
        try #require(unsafe Glibc.write(file, bytes, bytes.count) == bytes.count)
    }

    /// A machine with one disk, and a thermometer that shows some text.
    private func machine(temperature: String = "41500\n") throws {
        try write("0.50 0.25 0.10 1/100 4242\n", to: "proc/loadavg")
        try write(
            "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    600 kB\nHugePages_Total: 0\n",
            to: "proc/meminfo"
        )
        try write("x86_pkg_temp\n", to: "sys/class/thermal/thermal_zone0/type")
        try write(temperature, to: "sys/class/thermal/thermal_zone0/temp")
    }

    private func sensor(interval: String = "10s", history: JSONValue = 3) throws -> SystemSensor {
        let fields: JSONObject = ["interval": .string(interval), "history": history, "disks": ["/"]]
        let continuation = events.continuation
        let host = Host(
            clock: clock,
            events: Events { name, value throws(PluginError) in continuation.yield((name, value)) }
        )
        return try SystemSensor(configuration: PluginConfiguration(fields), host: host, root: root)
    }

    private func value(_ sensor: String, of plugin: SystemSensor) async throws -> SensorReading {
        try #require(try await plugin.latest(of: sensor).first)
    }

    @Test func `every sensor has a value, a unit, a time and a quality`() async throws {
        try machine()
        let sensor = try sensor()
        let evidence = try await sensor.probe()
        #expect(evidence == [.reachable("8 of 8 sensors were read")])
        #expect(
            try await sensor.latest(of: nil).map { "\($0.sensor) \($0.unit)" } == [
                "load.1m 1", "load.5m 1", "load.15m 1", "memory.total By", "memory.available By",
                "temperature.0.x86_pkg_temp Cel", "disk.total:/ By", "disk.available:/ By",
            ]
        )
        #expect(try await value("load.5m", of: sensor).value == 0.25)
        #expect(try await value("memory.available", of: sensor).value == 614_400)
        let temperature = try await value("temperature.0.x86_pkg_temp", of: sensor)
        #expect(temperature.value == 41.5 && temperature.quality == .good && temperature.time == clock.now)
        let name = await events.stream.first { _ in true }?.0
        #expect(name == "sensor-readings")
    }

    @Test(arguments: [("9999000\n", SensorReading.Quality.uncertain), ("", .bad), ("broken", .bad)])
    func `a thermometer that shows nonsense says so`(_ text: String, _ quality: SensorReading.Quality) async throws {
        try machine(temperature: text)
        let sensor = try sensor()
        _ = try await sensor.probe()
        let reading = try await value("temperature.0.x86_pkg_temp", of: sensor)
        #expect(reading.quality == quality)
        #expect((reading.value == nil) == (quality == .bad))
    }

    @Test func `a machine that reveals only its disk is still measured`() async throws {
        let sensor = try sensor()
        #expect(try await sensor.probe() == [.reachable("2 of 7 sensors were read")])
        #expect(try await value("load.1m", of: sensor).quality == .bad)
    }

    @Test func `the root directory of a sandbox is not measured as a disk`() async throws {
        try machine()
        try write(
            "86 44 0:42 / / ro,nosuid,nodev - tmpfs connector-sandbox rw,size=1024k,mode=755\n"
                + "87 86 0:43 / /proc rw,relatime - proc proc rw\n",
            to: "proc/self/mountinfo"
        )
        let sensor = try sensor()
        #expect(try await sensor.probe() == [.reachable("6 of 8 sensors were read")])
        #expect(try await value("disk.total:/", of: sensor).quality == .bad)
        #expect(try await value("disk.available:/", of: sensor).value == nil)
    }

    @Test func `an open gate measures at its interval until it closes, and keeps a limited number of readings`()
        async throws
    {
        try machine()
        let sensor = try sensor()
        _ = try await sensor.open()
        var told = events.stream.makeAsyncIterator()
        _ = await told.next()
        for _ in 0..<4 {
            clock.step()
            let readings = try SensorReading.readings(json: try #require(await told.next()).1)
            #expect(readings.count == 8)
        }
        await sensor.close()
        let all = try await sensor.range(SensorRange("load.1m"))
        let start = Timestamp(nanoseconds: 1_800_000_000_000_000_000)
        #expect(all.map { ($0.time.nanoseconds - start.nanoseconds) / 1_000_000_000 } == [20, 30, 40])
        let some = SensorRange("load.1m", from: all[0].time, to: all[1].time, limit: 1)
        #expect(try await sensor.range(some).map(\.time) == [all[1].time])
        #expect(try await sensor.range(SensorRange("load.1m", to: start)) == [])
    }

    @Test func `an unknown sensor is not found, and the error names those that exist`() async throws {
        try machine()
        let sensor = try sensor()
        _ = try await sensor.probe()
        let error = await #expect(throws: PluginError.self) { try await sensor.latest(of: "load") }
        #expect(error?.status == .notFound && error?.message.contains("load.1m") == true)
        await #expect(throws: PluginError.self) { try await sensor.range(SensorRange("load")) }
    }

    @Test func `an interval below a second is refused`() {
        #expect(throws: PluginError.self) { try sensor(interval: "999ms") }
    }

    @Test func `a reading without a unit, or that contradicts itself, is an error`() throws {
        let time = Timestamp(nanoseconds: 0)
        let error = #expect(throws: ConnectorError.self) { try SensorReading("t", 1, unit: "", at: time) }
        #expect(error?.code == .invalid && error?.message == "the reading of \"t\" has no unit")
        #expect(throws: ConnectorError.self) { try SensorReading("", 1, unit: "Cel", at: time) }
        #expect(throws: ConnectorError.self) { try SensorReading("t", nil, unit: "Cel", at: time) }
        #expect(throws: ConnectorError.self) { try SensorReading("t", 1, unit: "Cel", at: time, quality: .bad) }
        #expect(throws: ConnectorError.self) { try SensorReading("t", .nan, unit: "Cel", at: time) }
        let reading = try SensorReading("t", 1.5, unit: "Cel", at: time)
        #expect(try SensorReading.readings(json: [reading.json]) == [reading])
        var json = try #require(reading.json.object)
        json["unit"] = nil
        #expect(throws: ConnectorError.self) { try SensorReading(json: .object(json)) }
    }
}
