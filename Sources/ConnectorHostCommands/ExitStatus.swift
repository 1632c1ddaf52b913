// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// What the process says with its exit status; wrong usage is 64, as sysexits.h has it.
enum ExitStatus {
    /// A required gate is not open, a file would not load, a port is taken.
    static let failed = ExitCode(1)
    /// The configuration is invalid; nothing was opened.
    static let invalidConfiguration = ExitCode(2)
}
