// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Something that is forbidden, tried.
public struct SandboxAttempt: Sendable, Equatable {
    /// What was tried.
    public var name: String
    /// The errno by which it was refused; nil if it was possible.
    public var refusal: Int?

    /// Makes an attempt.
    public init(name: String, refusal: Int?) {
        self.name = name
        self.refusal = refusal
    }
}
