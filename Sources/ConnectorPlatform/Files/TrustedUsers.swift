// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    package import Glibc
#else
    package import Darwin
#endif

/// The users whose files and processes this process trusts: its effective user, and root.
package enum TrustedUsers {
    /// Whether a user is one of them.
    package static func contains(_ user: uid_t) -> Bool { user == 0 || user == geteuid() }
}
