// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
internal import ConnectorInvocation
package import Logging

/// The `log/1` service: see services/log.h.
package enum LogTable {
    /// The source of the lines of plugins in the application's log. Those of the host have the module that writes them.
    package static let source = "connector"

    /// The extra bytes read of an overlong text, so that a secret at the cut is seen whole and redacted.
    private static let margin = 4 << 10

    private static let log:
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UInt64, UnsafePointer<CChar>?, UInt64
        ) -> Int32 = { context, level, message, messageLength, fields, fieldsLength in
            guard let gate = unsafe GateServices.at(context) else { return Int32(CONNECTOR_MISUSE) }
            guard unsafe message != nil || messageLength == 0, unsafe fields != nil || fieldsLength == 0 else {
                return Int32(CONNECTOR_MISUSE)
            }
            let level = LogTable.level(level)
            guard level >= gate.logger.logLevel else { return Int32(CONNECTOR_OK) }
            // A line that is left out is neither copied nor redacted.
            let limit = UInt64(LogEntry.sizeLimit)
            guard gate.mayLog(Int(min(messageLength, limit) + min(fieldsLength, limit))) else {
                return Int32(CONNECTOR_OK)
            }
            let message = unsafe BorrowedText(message, messageLength, limit: LogEntry.sizeLimit, margin: margin)
            var entry = LogEntry(message: message, redactor: gate.context.redactor)
            if let fields = unsafe fields {
                entry.add(fields: unsafe BorrowedText(fields, fieldsLength, limit: LogEntry.sizeLimit, margin: margin))
            }
            // A line in the name of another gate would mislead.
            let own = entry.metadata.filter { gate.logger[metadataKey: $0.key] == nil }
            gate.logger.log(level: level, "\(entry.message)", metadata: own, source: source)
            return entry.isSound ? Int32(CONNECTOR_OK) : Int32(CONNECTOR_MISUSE)
        }

    /// The table for one gate.
    package static func table(context: UnsafeMutableRawPointer, level: Logger.Level) -> connector_log {
        unsafe connector_log(
            struct_size: UInt32(MemoryLayout<connector_log>.size),
            level: number(level),
            context: context,
            log: fitting(log)
        )
    }

    /// The level of a number; the nearest one for an unknown number.
    package static func level(_ number: Int32) -> Logger.Level {
        switch number {
        case ...CONNECTOR_LOG_TRACE: .trace
        case CONNECTOR_LOG_DEBUG: .debug
        case CONNECTOR_LOG_INFO: .info
        case CONNECTOR_LOG_NOTICE: .notice
        case CONNECTOR_LOG_WARNING: .warning
        case CONNECTOR_LOG_ERROR: .error
        default: .critical
        }
    }

    /// The number of a level in the ABI.
    package static func number(_ level: Logger.Level) -> Int32 {
        switch level {
        case .trace: CONNECTOR_LOG_TRACE
        case .debug: CONNECTOR_LOG_DEBUG
        case .info: CONNECTOR_LOG_INFO
        case .notice: CONNECTOR_LOG_NOTICE
        case .warning: CONNECTOR_LOG_WARNING
        case .error: CONNECTOR_LOG_ERROR
        case .critical: CONNECTOR_LOG_CRITICAL
        }
    }
}
