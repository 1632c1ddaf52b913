// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The reason compressed bytes could not be read.
package enum InflateError: Error, Equatable {
    /// The bytes end in the middle of the stream.
    case truncated
    /// The bytes break the format, or the checksum does not match.
    case corrupt
    /// The output exceeds the caller's limit.
    case tooLarge
    /// The library that reads the format is not installed.
    case unavailable
}
