// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The application's log. The host adds the connector's path and removes secrets.
public struct Log: Sendable {
    /// The severity of a line; the raw value is the number in `connector/services/log.h`.
    public enum Level: Int32, Sendable, Comparable {
        /// Every step of the code.
        case trace
        /// Details for debugging.
        case debug
        /// A normal event.
        case info
        /// A normal but rare event.
        case notice
        /// A condition that may lead to an error.
        case warning
        /// A failure.
        case error
        /// A condition that needs immediate attention.
        case critical

        /// Orders by severity.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The lowest level that is recorded.
    public let level: Level
    private let write: @Sendable (Level, String, JSONObject) -> Void

    /// Creates a log that passes lines to a closure, for tests.
    public init(level: Level, _ write: @escaping @Sendable (Level, String, JSONObject) -> Void) {
        self.level = level
        self.write = write
    }

    /// Writes one line; below the recorded level, the arguments are not evaluated.
    ///
    /// - Parameters:
    ///   - level: The severity.
    ///   - message: A static, lower-case sentence.
    ///   - fields: The values that change from line to line.
    public func log(
        _ level: Level,
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> JSONObject = JSONObject()
    ) {
        guard level >= self.level else { return }
        write(level, message(), fields())
    }
}
