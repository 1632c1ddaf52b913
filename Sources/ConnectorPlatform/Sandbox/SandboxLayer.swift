// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A layer of the sandbox, which not every system has.
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

    /// The name in reports.
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
