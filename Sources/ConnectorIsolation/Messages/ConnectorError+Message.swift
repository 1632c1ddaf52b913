// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension ConnectorError {
    /// The longest text that an error from the other side may carry, in bytes.
    private static let textLimit = 64 << 10
    /// The largest error, in bytes: four texts and everything else.
    package static let messageLimit = 4 * textLimit + 64

    /// Reads a runner's error.
    ///
    /// The plugin in the runner may have written any of it. What it advises is part of the cause: a fix is the host's own advice.
    package init(_ message: inout MessageReader) throws(ConnectorError) {
        let code = try Self.text(&message)
        let text = try Self.text(&message)
        let advice = try message.optional { message throws(ConnectorError) in try Self.text(&message) }
        let cause = try message.optional { message throws(ConnectorError) in try Self.text(&message) }
        let isRetryable = try message.bool()
        let retryAfter = min(try message.integer(UInt64.self), Self.longestRetryAfter)
        let words = [cause, advice.map { "the runner advises: \($0)" }].compactMap(\.self)
        self.init(
            Code(ofPlugin: code),
            text,
            cause: words.isEmpty ? nil : words.joined(separator: "; "),
            isRetryable: isRetryable,
            retryAfter: retryAfter == 0 ? nil : .nanoseconds(Int64(clamping: retryAfter))
        )
    }

    /// Writes the error, without its place in the source.
    package func put(to message: inout MessageWriter) {
        message.put(Self.cut(code.rawValue))
        message.put(Self.cut(self.message))
        message.put(fix) { $0.put(Self.cut($1)) }
        message.put(cause) { $0.put(Self.cut($1)) }
        message.put(isRetryable)
        message.put(retryAfter?.nanoseconds ?? 0)
    }

    private static func cut(_ text: String) -> [UInt8] { Array(text.utf8.prefix(textLimit)) }

    private static func text(_ message: inout MessageReader) throws(ConnectorError) -> String {
        let text = try message.data()
        guard text.count <= textLimit else { throw MessageReader.malformed }
        return String(decoding: text, as: UTF8.self)
    }
}
