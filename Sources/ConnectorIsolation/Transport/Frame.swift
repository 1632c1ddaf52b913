// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A message that has arrived.
package struct Frame: ~Copyable, Sendable {
    /// The kind.
    package let kind: MessageKind
    /// The instance that it is about; 0 for none.
    package let instance: UInt32
    /// What it says.
    package let payload: [UInt8]
    /// The descriptor that came with it; nil for none.
    package var descriptor: OwnedDescriptor?

    /// Takes the descriptor that came with it, which the caller closes; nil for none.
    package mutating func takeDescriptor() -> Int32? {
        guard let descriptor = descriptor.take() else { return nil }
        return descriptor.take()
    }
}
