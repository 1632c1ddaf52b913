// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Logging

/// Writes human-readable log lines to standard error: `warning: gate failed connector=crash`.
struct ConsoleLogHandler: LogHandler {
    /// The minimum level to write.
    var logLevel: Logger.Level
    /// The metadata of every line.
    var metadata: Logger.Metadata = [:]

    /// The messages that are not written.
    private let omitted: Set<String>

    /// Creates a handler without metadata.
    ///
    /// - Parameter omitted: The messages that are not written, because the command reports what they say.
    init(logLevel: Logger.Level, omitting omitted: Set<String> = []) {
        self.logLevel = logLevel
        self.omitted = omitted
    }

    /// One entry of the metadata.
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes one line.
    func log(event: LogEvent) {
        guard !omitted.contains(event.message.description) else { return }
        let style = TextStyle.detected(for: .error)
        let colour: TextStyle.Colour =
            switch event.level {
            case .critical, .error: .bad
            case .warning: .warning
            case .notice, .info, .debug, .trace: .faint
            }
        var line = "\(style.paint("\(event.level):", colour)) \(style.shown(event.message.description))"
        for (key, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }).sorted(by: {
            $0.key < $1.key
        }) {
            line += " \(style.paint("\(style.shown(key))=", .faint))\(style.shown(value.description))"
        }
        StandardStream.error.writeLine(line)
    }
}
