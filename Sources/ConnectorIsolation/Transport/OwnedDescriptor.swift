// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A descriptor that is closed with its value.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number.
    package let number: Int32

    /// Takes a descriptor over.
    package init(_ number: Int32) {
        self.number = number
    }

    /// Gives the descriptor to the caller, who closes it.
    package consuming func take() -> Int32 {
        let number = number
        discard self
        return number
    }

    deinit { close(number) }
}

extension OwnedDescriptor {
    /// Another descriptor of the same file; -1 if there is none left.
    package static func duplicate(_ descriptor: Int32) -> Int32 {
        fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    }
}
