// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The exit statuses of the process; wrong usage is 64, as in sysexits.h.
enum ExitStatus {
    /// The command failed: for example, a required gate is not open, a file would not load, or a port is taken.
    static let failed = ExitCode(1)
    /// The configuration is invalid; no gate was opened.
    static let invalidConfiguration = ExitCode(2)
    /// A plan has changes.
    static let changes = ExitCode(3)
}
