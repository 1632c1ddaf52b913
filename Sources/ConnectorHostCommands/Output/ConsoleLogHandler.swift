// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorServices
internal import Logging

/// Writes human-readable log lines to standard error: `warning: gate failed connector=crash`.
///
/// A line of a plugin has its own words in the fields: `warning: plugin logged a line connector=crash line="no release"`.
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
        let isOfPlugin = event.source == LogEntry.source
        guard isOfPlugin || !omitted.contains(event.message.description) else { return }
        let style = TextStyle.detected(for: .error)
        let colour: TextStyle.Colour =
            switch event.level {
            case .critical, .error: .bad
            case .warning: .warning
            case .notice, .info, .debug, .trace: .faint
            }
        let entries: [(key: String, value: String)]
        if isOfPlugin {
            // The host's own first, and nothing of the plugin that could be taken for it.
            var fields: [(key: String, value: String)] = [(key: "line", value: event.message.description)]
            fields += Self.sorted(event.metadata ?? [:])
            entries =
                Self.sorted(metadata)
                + fields.map { (key: Self.quoted($0.key), value: Self.quoted($0.value)) }
        } else {
            entries = Self.sorted(metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }))
        }
        let message = isOfPlugin ? "plugin logged a line" : event.message.description
        var line = "\(style.paint("\(event.level):", colour)) \(style.shown(message))"
        for (key, value) in entries { line += " \(style.paint("\(style.shown(key))=", .faint))\(style.shown(value))" }
        StandardStream.error.writeLine(line)
    }

    private static func sorted(_ metadata: Logger.Metadata) -> [(key: String, value: String)] {
        metadata.map { (key: $0.key, value: $0.value.description) }.sorted { $0.key < $1.key }
    }

    /// A text in quotation marks, as in JSON, unless it is one word.
    private static func quoted(_ text: String) -> String {
        let marks: [Unicode.Scalar] = ["\"", "=", "\\"]
        let isWord = !text.unicodeScalars.contains { $0.properties.isWhitespace || marks.contains($0) }
        return isWord && !text.isEmpty ? text : JSONValue.string(text).serialized()
    }
}
