// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Logging

/// How much is said on standard error beside the answer.
struct LogOptions: ParsableArguments {
    /// Whether `info` is said as well.
    @Flag(name: [.short, .long], help: "Log more: the same as --log-level info.")
    var verbose = false

    /// The least level that is said.
    @Option(help: ArgumentHelp("What is logged to standard error, from this level on.", valueName: "level"))
    var logLevel: LogLevel?

    /// Writes to standard error, whatever the process has bootstrapped.
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

        /// The level of that name.
        var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .warning }
    }
}
