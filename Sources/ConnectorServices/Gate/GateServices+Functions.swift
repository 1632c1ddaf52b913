// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorBase
package import ConnectorInvocation
internal import ConnectorPlatform
internal import Logging

/// The short functions behind the tables; requests and calls have their own files.
extension GateServices: ServiceFunctions {
    /// A new id, unique in the process.
    package func newIdentifier() -> UInt64 { ServiceIdentifier.next() }

    // MARK: clock/1

    package var monotonicTime: UInt64 { host.clock.now() }

    package func startTimer(_ id: UInt64, after delay: UInt64, _ callback: TimerCallback) -> Int32 {
        timers.start(id, after: delay, { callback.call() }, deliver: deliver)
    }

    package func cancelTimer(_ id: UInt64) -> Int32 { timers.cancel(id) }

    // MARK: log/1

    package var logLevel: Int32 { logger.logLevel.number }

    package func log(_ level: Int32, _ message: UnsafeRawBufferPointer, _ fields: UnsafeRawBufferPointer?) -> Bool {
        let level = Logger.Level(number: level)
        guard level >= logger.logLevel else { return true }
        // A dropped line is neither copied nor redacted.
        let limit = LogEntry.sizeLimit
        let fieldsSize = unsafe fields.map { $0.count } ?? 0
        guard mayLog(min(message.count, limit) + min(fieldsSize, limit)) else { return true }
        var entry = LogEntry(message: unsafe BorrowedText(message, limit: limit), redactor: context.redactor)
        if let fields = unsafe fields { entry.add(fields: unsafe BorrowedText(fields, limit: limit)) }
        // A line in the name of another gate would mislead.
        let own = entry.metadata.filter { logger[metadataKey: $0.key] == nil }
        logger.log(level: level, "\(entry.message)", metadata: own, source: LogEntry.source)
        return entry.isSound
    }

    // MARK: events/1

    package var mayHaveListeners: Bool { host.events.hasListeners(for: context.path) }

    package func emit(_ name: String, _ payload: JSONValue, json: [UInt8]?) {
        let redactor = context.redactor
        host.events.publish(
            ConnectorEvent(
                connector: context.path,
                name: redactor.redact(name),
                payload: redactor.redact(payload),
                time: host.clock.wallTime()
            )
        )
    }

    // MARK: storage/1

    package func storedValue(of key: [UInt8]) throws(ServiceFailure) -> [UInt8] {
        guard let value = try storage.value(of: key) else { throw Self.notStored }
        return value
    }

    package func storedKeys(startingWith prefix: [UInt8]) throws(ServiceFailure) -> [UInt8] {
        let keys = try storage.keys(startingWith: prefix)
        return JSONValue.array(keys.map { .string(String(decoding: $0, as: UTF8.self)) }).utf8()
    }

    package func store(_ value: [UInt8], as key: [UInt8]) throws(ServiceFailure) { try storage.set(key, to: value) }

    package func replaceStored(_ expected: [UInt8]?, with value: [UInt8], of key: [UInt8]) throws(ServiceFailure) {
        try storage.replace(expected, with: value, of: key)
    }

    package func removeStored(_ key: [UInt8]) throws(ServiceFailure) {
        guard try storage.remove(key) else { throw Self.notStored }
    }

    private static var notStored: ServiceFailure {
        ServiceFailure(status: Int32(CONNECTOR_NOT_FOUND), message: "nothing is stored under this key")
    }

    // MARK: http/1

    package var requestLimit: Int { host.options.http.requestLimit }

    /// Compresses with gzip; nil in a recording, which has the body as the plugin wrote it.
    package func compressed(_ body: UnsafeBufferPointer<UInt8>) throws(ServiceFailure) -> [UInt8]? {
        guard context.recording == nil else { return nil }
        return try unsafe Gzip.compress(body)
    }

    package func cancelRequest(_ id: UInt64) {
        completeRequest(id, .failure(.cancelled("the plugin cancelled the request")))
    }

    // MARK: gates/1

    package func cancelCall(_ id: UInt64) {
        completeCall(id, .failure(.cancelled("the plugin cancelled the call")))
    }
}
