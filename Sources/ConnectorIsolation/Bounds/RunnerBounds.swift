// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// How much of the machine a runner may use, and which of these bounds the kernel enforces.
struct RunnerBounds: Sendable {
    /// The group that enforces them; nil if none does.
    private let group: ControlGroup?
    private let memory: Int?
    /// The memory that the process may have, in bytes; nil for no bound.
    private let limit: Int?
    /// What holds, and what does not, for the evidence.
    let parts: [String]
    /// Whether everything that was asked for holds.
    let isWhole: Bool

    /// Puts a process that does not run plugin code yet into a group with the bounds of its sandbox.
    ///
    /// Where no group can enforce them, the process bounds its own memory with `RLIMIT_DATA`, and nothing bounds its processor time. On
    /// macOS nothing bounds either.
    init(_ sandbox: SandboxSettings, _ source: ControlGroupSource, process: Int32) {
        let isOn = sandbox.level == .default || sandbox.level == .required
        guard isOn, sandbox.memory != nil || sandbox.cpu != nil else {
            (group, memory, limit, parts, isWhole) = (nil, nil, nil, [], true)
            return
        }
        var (group, reason): (ControlGroup?, String) = (nil, "")
        var held: Set<ControlGroups.Controller> = []
        do throws(ConnectorError) {
            let groups = try source.groups()
            reason = "groups below \(groups.root) cannot bound it"
            let made = try groups.make()
            do throws(ConnectorError) {
                if let memory = sandbox.memory, groups.controllers.contains(.memory) {
                    try made.bound(memory: memory)
                    held.insert(.memory)
                }
                if let cpu = sandbox.cpu, groups.controllers.contains(.cpu) {
                    try made.bound(cpu: cpu)
                    held.insert(.cpu)
                }
                try made.add(process)
                group = made
            } catch {
                made.remove()
                throw error
            }
        } catch {
            held = []
            reason = [error.message, error.cause].compactMap(\.self).joined(separator: ": ")
        }
        var parts: [String] = []
        if let memory = sandbox.memory {
            let size = Int64(memory).megabytes
            let otherwise = Self.limitsItself ? "\(size) by RLIMIT_DATA" : "is not bounded"
            parts.append("memory " + (held.contains(.memory) ? "\(size) by cgroup" : "\(otherwise) (\(reason))"))
        }
        if let cpu = sandbox.cpu {
            parts.append(held.contains(.cpu) ? "cpu \(cpu) by cgroup" : "cpu is not bounded (\(reason))")
        }
        (self.group, self.parts) = (group, parts)
        limit = Self.limitsItself || held.contains(.memory) ? sandbox.memory : nil
        memory = held.contains(.memory) ? sandbox.memory : nil
        isWhole = limit == sandbox.memory && (sandbox.cpu == nil || held.contains(.cpu))
    }

    /// Whether a process bounds its own memory, in its sandbox, where no group does.
    private static var limitsItself: Bool {
        #if os(Linux)
            true
        #else
            false
        #endif
    }

    /// Why the kernel has killed the process; nil if it has not.
    var outOfMemory: String? {
        guard let memory, let group, group.outOfMemoryKills > 0 else { return nil }
        return "it was ended by the kernel: out of memory, the limit is \(Int64(memory).megabytes)"
    }

    /// What a process lacked that could not allocate memory; nil if nothing bounds its memory.
    var shortage: String? {
        limit.map { "it needed more memory than its sandbox allows, \(Int64($0).megabytes)" }
    }

    /// Removes the group, once the process has ended.
    func end() {
        group?.remove()
    }
}
