// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A key and its certificate in a directory that is replaced as a whole, as Kubernetes does: a symbolic link changes its target.
final class SecretRotation: Sendable {
    private let directory: String
    private let count = Atomic(0)

    /// Writes the first pair to `current` in a directory.
    init(_ directory: String) throws {
        self.directory = directory
        try rotate()
    }

    /// How many pairs there were.
    var rotations: Int { count.load(ordering: .relaxed) }

    /// Writes the next pair, and lets the link lead to it. Both files contain the same number.
    func rotate() throws {
        let number = count.add(1, ordering: .relaxed).newValue
        let folder = "\(directory)/\(number)"
        try #require(unsafe mkdir(folder, 0o700) == 0)
        for name in ["key", "certificate"] {
            let file = unsafe open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try #require(file >= 0)
            defer { close(file) }
            try OutputFile.write(Array("secret-\(number)".utf8), to: file)
        }
        try #require(unsafe symlink("\(number)", "\(directory)/next") == 0)
        try #require(unsafe rename("\(directory)/next", "\(directory)/current") == 0)
        guard number > 2 else { return }
        for name in ["key", "certificate"] { unsafe unlink("\(directory)/\(number - 2)/\(name)") }
        unsafe rmdir("\(directory)/\(number - 2)")
    }
}
