// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The condition that a path must meet for a put to take place, checked atomically with the put.
public enum FileCondition: Sendable, Hashable {
    /// None: the put replaces an existing file.
    case any
    /// No file exists at the path; HTTP's `If-None-Match: *`.
    case absent
    /// The file at the path has this tag; HTTP's `If-Match`.
    case tag(String)
}
