// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector

/// The `log/1` service: see services/log.h.
package enum LogTable {
    /// The maximum length of a message and of its fields, in bytes.
    package static let textLimit = 64 << 10
    /// How much is read of an overlong text: so much more that a secret at the cut is seen whole and redacted.
    package static let readLimit = textLimit + (4 << 10)

    private static let log:
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UInt64, UnsafePointer<CChar>?, UInt64
        ) -> Int32 = { context, level, message, messageLength, fields, fieldsLength in
            guard let services = unsafe ServiceTables.at(context), unsafe message != nil || messageLength == 0,
                unsafe fields != nil || fieldsLength == 0
            else { return Int32(CONNECTOR_MISUSE) }
            let line = unsafe lent(message, messageLength)
            let isSound = unsafe services.log(level, line, fields == nil ? nil : lent(fields, fieldsLength))
            return isSound ? Int32(CONNECTOR_OK) : Int32(CONNECTOR_MISUSE)
        }

    /// As much of a text as is read.
    private static func lent(_ start: UnsafePointer<CChar>?, _ length: UInt64) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: start, count: Int(min(length, UInt64(readLimit))))
    }

    /// The table for one instance.
    static func table(_ context: UnsafeMutableRawPointer, level: Int32) -> connector_log {
        unsafe connector_log(
            struct_size: UInt32(MemoryLayout<connector_log>.size),
            level: level,
            context: context,
            log: fitting(log)
        )
    }
}
