// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSandbox

/// A part of the sandbox, which the system has or has not.
public enum SandboxLayer: Int, Sendable, CaseIterable {
    /// System calls that reach the kernel.
    case filter
    /// Files, TCP, signals and abstract sockets.
    case landlock
    /// User, process, mount, network and IPC namespaces.
    case namespaces
    /// No capability, and another user than root.
    case identity
    /// Memory, threads, descriptors, cores.
    case limits
    /// No descriptor but the channel's.
    case descriptors

    /// What people call it.
    public var name: String {
        switch self {
        case .filter: "filter"
        case .landlock: "landlock"
        case .namespaces: "namespaces"
        case .identity: "identity"
        case .limits: "limits"
        case .descriptors: "descriptors"
        }
    }
}

/// Whether a layer holds.
public struct SandboxOutcome: Sendable, Equatable {
    /// Which one.
    public var layer: SandboxLayer
    /// Whether it holds.
    public var holds: Bool
    /// The ABI of Landlock, the number of the user; 0 for the others.
    public var version: Int
    /// What failed, or what holds less than asked for; empty if nothing.
    public var detail: String

    /// Makes an outcome.
    public init(layer: SandboxLayer, holds: Bool, version: Int = 0, detail: String = "") {
        self.layer = layer
        self.holds = holds
        self.version = version
        self.detail = detail
    }
}

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
