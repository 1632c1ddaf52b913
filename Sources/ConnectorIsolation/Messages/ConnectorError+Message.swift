// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorManifest

extension ConnectorError {
    /// The longest text that an error from the other side may carry, in bytes.
    private static let textLimit = 64 << 10
    /// The largest error, in bytes: four texts and everything else.
    package static let messageLimit = 4 * textLimit + 64
    /// What the host's own code advises in a runner. It is the host's advice also if a plugin there gives it.
    private static let hostAdvice = Set(
        [PluginFunction.returnAdvice, PluginFunction.foreignReturnAdvice] + remedies
            + ValueType.allCases.map { CallFrame.advice(for: $0) }
    )

    /// Reads a runner's error.
    ///
    /// The plugin in the runner may have written any of it. What it advises is part of the cause, unless the host would say the same: a
    /// fix is the host's own advice.
    package init(_ message: inout MessageReader) throws(ConnectorError) {
        let code = try Self.text(&message)
        let text = try Self.text(&message)
        let advice = try message.optional { message throws(ConnectorError) in try Self.text(&message) }
        let cause = try message.optional { message throws(ConnectorError) in try Self.text(&message) }
        let isRetryable = try message.bool()
        let retryAfter = min(try message.integer(UInt64.self), Self.longestRetryAfter)
        let fix = advice.flatMap { Self.hostAdvice.contains($0) ? $0 : nil }
        let words = [cause, fix == nil ? advice.map { "the runner advises: \($0)" } : nil].compactMap(\.self)
        self.init(
            Code(ofPlugin: code),
            text,
            fix: fix,
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
