// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import InMemoryLogging
import Logging
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// log/1 as a plugin calls it.
@Suite struct LogServiceTests {
    private func log(
        _ plugin: PluginSide,
        _ level: Int32,
        _ message: [UInt8],
        _ fields: [UInt8]? = nil
    ) throws -> Int32 {
        let table = try unsafe #require(plugin.logTable).pointee
        return unsafe message.withUnsafeBytes { message in
            unsafe (fields ?? []).withUnsafeBytes { bytes in
                typealias Log =
                    @convention(c) (
                        UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, UInt64, UnsafeRawPointer?, UInt64
                    ) -> Int32
                let log = unsafe unsafeBitCast(table.log, to: Log.self)
                return unsafe log(
                    table.context,
                    level,
                    message.baseAddress,
                    UInt64(message.count),
                    fields == nil ? nil : bytes.baseAddress,
                    UInt64(bytes.count)
                )
            }
        }
    }

    @Test func `a line arrives with the connector's path and the fields`() throws {
        let plugin = PluginSide()
        let fields = #"{"batch":3,"vendor":"segment","ok":true,"nested":{"a":[1,"b"]}}"#
        #expect(try log(plugin, CONNECTOR_LOG_WARNING, Array("sent".utf8), Array(fields.utf8)) == CONNECTOR_OK)
        let entry = try #require(plugin.log.entries.first)
        #expect(entry.level == .warning)
        #expect(entry.message == "sent")
        #expect(entry.metadata["connector"] == "analytics/segment")
        #expect(entry.metadata["batch"] == "3")
        #expect(entry.metadata["vendor"] == "segment")
        #expect(entry.metadata["nested"] == ["a": ["1", "b"]])
    }

    @Test func `a field cannot name another connector`() throws {
        let plugin = PluginSide()
        let fields = #"{"connector":"crash/sentry","batch":3}"#
        #expect(try log(plugin, CONNECTOR_LOG_WARNING, Array("sent".utf8), Array(fields.utf8)) == CONNECTOR_OK)
        let entry = try #require(plugin.log.entries.first)
        #expect(entry.metadata["connector"] == "analytics/segment" && entry.metadata["batch"] == "3")
    }

    @Test(arguments: [
        (Int32.min, Logger.Level.trace), (0, .trace), (1, .debug), (2, .info), (3, .notice), (4, .warning), (5, .error),
        (6, .critical), (7, .critical), (.max, .critical),
    ])
    func `an unknown level counts as the nearest known one`(number: Int32, level: Logger.Level) throws {
        let plugin = PluginSide()
        #expect(try log(plugin, number, Array("x".utf8)) == CONNECTOR_OK)
        #expect(plugin.log.entries.first?.level == level)
    }

    @Test func `the table says the lowest level, and what is below is not recorded`() throws {
        let plugin = PluginSide(level: .warning)
        #expect(try unsafe #require(plugin.logTable).pointee.level == CONNECTOR_LOG_WARNING)
        #expect(try log(plugin, CONNECTOR_LOG_INFO, Array("x".utf8)) == CONNECTOR_OK)
        #expect(plugin.log.entries.isEmpty)
    }

    @Test func `secrets are taken out of message and fields`() throws {
        let plugin = PluginSide(secrets: ["key": "topsecret"])
        _ = try log(
            plugin,
            CONNECTOR_LOG_INFO,
            Array("with topsecret".utf8),
            Array(#"{"topsecret":"a","b":"topsecret!","c":["topsecret"]}"#.utf8)
        )
        let entry = try #require(plugin.log.entries.first)
        #expect(entry.message == "with •••")
        #expect(entry.metadata["b"] == "•••!")
        #expect(entry.metadata["c"] == ["•••"])
        #expect(entry.metadata["topsecret"] == nil)
    }

    @Test(arguments: ["[1]", "3", "{", "", "not json"])
    func `fields that are no object are logged all the same`(fields: String) throws {
        let plugin = PluginSide()
        #expect(try log(plugin, CONNECTOR_LOG_INFO, Array("x".utf8), Array(fields.utf8) + [0x20]) == CONNECTOR_MISUSE)
        #expect(plugin.log.entries.first?.metadata["fields"] == .string(fields + " "))
    }

    @Test func `text that is not UTF-8 is repaired`() throws {
        let plugin = PluginSide()
        #expect(try log(plugin, CONNECTOR_LOG_INFO, [0x61, 0xFF, 0x62]) == CONNECTOR_MISUSE)
        #expect(plugin.log.entries.first?.message == "a\u{FFFD}b")
    }

    @Test func `a long message is cut, and nothing of a secret at the cut remains`() throws {
        let plugin = PluginSide(secrets: ["key": "topsecret"])
        let message = String(repeating: "a", count: LogEntry.sizeLimit - 4) + "topsecret and more"
        #expect(try log(plugin, CONNECTOR_LOG_INFO, Array(message.utf8)) == CONNECTOR_MISUSE)
        let text = try #require(plugin.log.entries.first?.message.description)
        #expect(text.utf8.count <= LogEntry.sizeLimit)
        #expect(!text.contains("top"))
    }

    @Test func `of a plugin that logs without end, a thousand lines of a second are logged, the others counted`()
        throws
    {
        let clock = ManualHostClock()
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
        let statuses = try (0..<10_000).map { try log(plugin, CONNECTOR_LOG_INFO, Array("line \($0)".utf8)) }
        #expect(statuses.allSatisfy { $0 == CONNECTOR_OK })
        #expect(plugin.log.entries.count == 1000)
        #expect(plugin.log.entries.last?.message == "line 999")
        clock.advance(by: .seconds(1))
        #expect(try log(plugin, CONNECTOR_LOG_INFO, Array("more".utf8)) == CONNECTOR_OK)
        let last = plugin.log.entries.dropFirst(1000)
        #expect(last.map { "\($0.message)" } == ["lines of the plugin were dropped", "more"])
        #expect(last.first?.level == .warning)
        #expect(last.first?.metadata["lines"] == "9000" && last.first?.metadata["connector"] == "analytics/segment")
    }

    @Test func `a few long lines use up a second, and the end of the instance says how many were left out`() throws {
        let plugin = PluginSide(host: HostServices(options: .init(clock: ManualHostClock())))
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: LogEntry.sizeLimit / 2)
        let fields: [UInt8] = Array(#"{"a":""#.utf8) + text.dropLast(8) + Array(#""}"#.utf8)
        try #require(text.count + fields.count == LogEntry.sizeLimit)
        for _ in 0..<6 { #expect(try log(plugin, CONNECTOR_LOG_INFO, text, fields) == CONNECTOR_OK) }
        #expect(plugin.log.entries.count == LineLimit.ofPlugin.bytes / LogEntry.sizeLimit)
        plugin.gate.invalidate()
        let last = try #require(plugin.log.entries.last)
        #expect(last.message == "lines of the plugin were dropped" && last.metadata["lines"] == "2")
    }

    @Test func `lines below the application's level take no room`() throws {
        let plugin = PluginSide(host: HostServices(options: .init(clock: ManualHostClock())), level: .warning)
        for _ in 0..<1000 { _ = try log(plugin, CONNECTOR_LOG_DEBUG, Array("detail".utf8)) }
        _ = try log(plugin, CONNECTOR_LOG_ERROR, Array("failure".utf8))
        #expect(plugin.log.entries.map { "\($0.message)" } == ["failure"])
    }

    @Test func `null and absurd lengths get a status`() throws {
        typealias Log =
            @convention(c) (
                UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UInt64, UnsafePointer<CChar>?, UInt64
            ) -> Int32
        let plugin = PluginSide()
        let table = try unsafe #require(plugin.logTable).pointee
        let log = unsafe unsafeBitCast(table.log, to: Log.self)
        #expect(unsafe log(table.context, CONNECTOR_LOG_INFO, nil, 5, nil, 0) == CONNECTOR_MISUSE)
        #expect(unsafe log(table.context, CONNECTOR_LOG_INFO, nil, .max, nil, .max) == CONNECTOR_MISUSE)
        #expect(log(nil, CONNECTOR_LOG_INFO, nil, 0, nil, 0) == CONNECTOR_MISUSE)
        #expect(unsafe log(table.context, CONNECTOR_LOG_INFO, nil, 0, nil, 0) == CONNECTOR_OK)
    }
}
