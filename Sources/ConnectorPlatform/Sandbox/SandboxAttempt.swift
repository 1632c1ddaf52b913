// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// An attempt at something that is forbidden.
public struct SandboxAttempt: Sendable, Equatable {
    /// What was tried.
    public var name: String
    /// The `errno` of the refusal; nil if the attempt succeeded.
    public var refusal: Int?

    /// Creates an attempt.
    public init(name: String, refusal: Int?) {
        self.name = name
        self.refusal = refusal
    }
}
