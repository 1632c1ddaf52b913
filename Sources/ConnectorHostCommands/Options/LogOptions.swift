// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Logging

/// The log level of a command on standard error.
struct LogOptions: ParsableArguments {
    /// Whether to log more than by default.
    @Flag(name: [.short, .long], help: "Log more: info, or debug in run and console, which log info by default.")
    var verbose = false

    /// The minimum level to log.
    @Option(
        help: ArgumentHelp(
            "The minimum level to log on standard error. (default: warning; info in run and console)",
            valueName: "level"
        )
    )
    var logLevel: LogLevel?

    /// Lowers the default level of a command that runs until it is stopped: to `info`, or to `debug` with `--verbose`.
    mutating func logInfoByDefault() {
        logLevel = logLevel ?? (verbose ? .debug : .info)
    }

    /// A logger that writes to standard error, independent of the process's bootstrapped logging system.
    var logger: Logger { logger(omitting: []) }

    /// The same logger without some messages, because the command reports what they say.
    func logger(omitting messages: Set<String>) -> Logger {
        let level = logLevel?.level ?? (verbose ? .info : .warning)
        var logger = Logger(label: "connector-host") { _ in ConsoleLogHandler(logLevel: level, omitting: messages) }
        logger.logLevel = level
        return logger
    }

    /// The levels of swift-log, as arguments.
    enum LogLevel: String, ExpressibleByArgument, CaseIterable {
        case trace
        case debug
        case info
        case notice
        case warning
        case error
        case critical

        /// The level of swift-log.
        var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .warning }
    }
}
