// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// The application's log. The host adds the connector's path and removes secrets.
public struct Log: Sendable {
    /// How much a line matters; the raw value is the number of `connector/services/log.h`.
    public enum Level: Int32, Sendable, Comparable {
        /// Each step of the code.
        case trace
        /// For whoever looks for a mistake.
        case debug
        /// What happens normally.
        case info
        /// What happens normally, and seldom.
        case notice
        /// What may become an error.
        case warning
        /// What failed.
        case error
        /// What needs somebody now.
        case critical

        /// By importance.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The lowest level that is recorded.
    public let level: Level
    private let write: @Sendable (Level, String, JSONObject) -> Void

    /// Writes lines to a function, as tests do.
    public init(level: Level, _ write: @escaping @Sendable (Level, String, JSONObject) -> Void) {
        self.level = level
        self.write = write
    }

    /// Writes one line; below the recorded level the arguments are not even made.
    ///
    /// - Parameters:
    ///   - level: How much it matters.
    ///   - message: A static, lower-case sentence.
    ///   - fields: What changes from line to line.
    public func log(
        _ level: Level,
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> JSONObject = JSONObject()
    ) {
        guard level >= self.level else { return }
        write(level, message(), fields())
    }
}
