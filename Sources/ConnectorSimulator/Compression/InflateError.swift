// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Why compressed bytes could not be read.
package enum InflateError: Error, Equatable {
    /// The bytes end in the middle.
    case truncated
    /// The bytes are not what the format allows, or the checksum does not match.
    case corrupt
    /// More would come out than the caller allows.
    case tooLarge
}
