// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A version 2 control group for one runner: the kernel bounds what its processes use together.
package struct ControlGroup: Sendable {
    /// The group's directory.
    package let path: String

    /// Bounds the memory, including that of files and shared memory, and allows none of it to be swapped.
    ///
    /// If the processes need more, the kernel kills them all: see ``outOfMemoryKills``.
    ///
    /// - Parameter bytes: The most memory.
    package func bound(memory bytes: Int) throws(ConnectorError) {
        try put("\(bytes)", into: "memory.max")
        // Without swap accounting there is no such file, and nothing to bound.
        do throws(ConnectorError) { try put("0", into: "memory.swap.max") } catch {}
        try put("1", into: "memory.oom.group")
    }

    /// Bounds the processor time.
    ///
    /// - Parameter processors: The most processors, averaged over a tenth of a second; at least 0.01.
    package func bound(cpu processors: Double) throws(ConnectorError) {
        try put("\(Int((processors * Double(Self.period)).rounded())) \(Self.period)", into: "cpu.max")
    }

    /// A tenth of a second, in microseconds.
    private static let period = 100_000

    /// Moves a process into the group. Memory that it already has stays charged to its old group.
    package func add(_ process: Int32) throws(ConnectorError) {
        try put("\(process)", into: "cgroup.procs")
    }

    /// How many processes the kernel has killed because the group exceeded its memory bound.
    package var outOfMemoryKills: Int {
        guard let bytes = try? SystemFile.bytes(of: "\(path)/memory.events", limit: 4096) else { return 0 }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.count == 2, fields[0] == "oom_kill" { return Int(fields[1]) ?? 0 }
        }
        return 0
    }

    /// Removes the group, unless a process is still in it.
    ///
    /// - Returns: Whether it is gone.
    @discardableResult
    package func remove() -> Bool {
        unsafe rmdir(path) == 0 || errno == ENOENT
    }

    private func put(_ text: String, into file: String) throws(ConnectorError) {
        do throws(SystemError) {
            try ControlGroups.put(text, into: "\(path)/\(file)")
        } catch {
            throw ConnectorError(.unavailable, "\(path)/\(file) does not take \(text)", cause: error.description)
        }
    }
}
