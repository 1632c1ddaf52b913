// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a call that has arrived in a runner waits for before its function is entered.
package enum CallWait: UInt8, Sendable {
    /// Its turn at a serial plugin.
    case turn = 1
    /// One of the threads of its instance.
    case thread
}
