// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What must be true of a path for a put to take place, checked with the put itself as one step.
public enum FileCondition: Sendable, Hashable {
    /// Nothing: a file with the path is replaced.
    case any
    /// There is no file with the path; HTTP's `If-None-Match: *`.
    case absent
    /// The file with the path has this tag; HTTP's `If-Match`.
    case tag(String)
}
