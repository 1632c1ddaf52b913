// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// One header field of a request or response.
struct HTTPField: Sendable, Hashable {
    /// As it was written.
    var name: String
    /// With secrets put in.
    var value: String
    /// Whether a secret is in the value.
    var isSecret = false

    /// Whether the name is this one, in whatever case.
    func isNamed(_ other: String) -> Bool {
        name.utf8.count == other.utf8.count && name.lowercased() == other
    }
}

extension [HTTPField] {
    /// The value of the first field of a name, in lower case.
    func first(named name: String) -> String? {
        first { $0.isNamed(name) }?.value
    }
}
