// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Logging

/// The log level of a command on standard error.
struct LogOptions: ParsableArguments {
    /// Whether to log at `info`.
    @Flag(name: [.short, .long], help: "Log more: the same as --log-level info.")
    var verbose = false

    /// The minimum level to log.
    @Option(help: ArgumentHelp("The minimum level to log on standard error.", valueName: "level"))
    var logLevel: LogLevel?

    /// A logger that writes to standard error, independent of the process's bootstrapped logging system.
    var logger: Logger {
        let level = logLevel?.level ?? (verbose ? .info : .warning)
        var logger = Logger(label: "connector-host") { _ in ConsoleLogHandler(logLevel: level) }
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
