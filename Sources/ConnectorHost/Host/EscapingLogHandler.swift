// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Logging

/// The application's log handler, which gets every line of the host with control characters escaped.
///
/// A text of a plugin or vendor could otherwise begin a line of its own in the application's log, or steer the terminal
/// that shows the log.
struct EscapingLogHandler: LogHandler {
    /// The application's handler.
    private var inner: any LogHandler

    /// Wraps the application's handler.
    init(_ inner: any LogHandler) {
        self.inner = inner
    }

    /// The minimum level to write.
    var logLevel: Logger.Level {
        get { inner.logLevel }
        set { inner.logLevel = newValue }
    }

    /// The metadata of every line; escaped once it is set.
    var metadata: Logger.Metadata {
        get { inner.metadata }
        set { inner.metadata = Self.escaped(newValue) }
    }

    /// Adds metadata from the context of the task that logs.
    var metadataProvider: Logger.MetadataProvider? {
        get { inner.metadataProvider }
        set { inner.metadataProvider = newValue }
    }

    /// One entry of the metadata.
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { inner[metadataKey: key.displayed(isUnicode: true)] }
        set { inner[metadataKey: key.displayed(isUnicode: true)] = newValue.map(Self.escaped) }
    }

    /// Writes one line. The host logs no errors as such: they are part of its messages and metadata.
    func log(event: LogEvent) {
        var event = event
        event.message = "\(Self.shown(event.message.description))"
        event.metadata = event.metadata.map(Self.escaped)
        inner.log(event: event)
    }

    /// A text with its paths as they were given.
    private static func shown(_ text: String) -> String { text.withGivenPaths.displayed(isUnicode: true) }

    private static func escaped(_ metadata: Logger.Metadata) -> Logger.Metadata {
        Logger.Metadata(metadata.map { ($0.displayed(isUnicode: true), escaped($1)) }) { _, last in last }
    }

    private static func escaped(_ value: Logger.MetadataValue) -> Logger.MetadataValue {
        switch value {
        case .string(let text): .string(shown(text))
        case .stringConvertible(let value): .string(shown(value.description))
        case .array(let values): .array(values.map(escaped))
        case .dictionary(let members): .dictionary(escaped(members))
        }
    }
}
