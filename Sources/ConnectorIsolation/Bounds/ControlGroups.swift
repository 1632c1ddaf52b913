// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A directory delegated to this process, below which it may make version 2 control groups.
package struct ControlGroups: Sendable {
    /// A kernel controller.
    package enum Controller: String, Sendable, CaseIterable {
        case memory
        case cpu
    }

    /// The environment variable that names the directory.
    package static let variable = "CONNECTOR_CGROUP"
    private static let prefix = "connector-runner-"
    private static let lastNumber = Atomic<Int>(0)

    /// The delegated directory.
    package let root: String
    /// What its groups can bound.
    package let controllers: Set<Controller>

    /// Takes a directory, enables its controllers for the groups below it, and removes the groups that earlier hosts left there.
    ///
    /// - Throws: `unsupported` if it is not a control group, is not delegated to this process, or if its groups could bound nothing.
    package init(root: String) throws(ConnectorError) {
        guard let present = Self.words(of: "\(root)/cgroup.controllers") else {
            throw ConnectorError(.unsupported, "\(root) is not a control group")
        }
        guard unsafe access(root, W_OK) == 0 else {
            throw ConnectorError(.unsupported, "\(root) is not delegated to this process")
        }
        let control = "\(root)/cgroup.subtree_control"
        var refusal: SystemError?
        for controller in Controller.allCases where present.contains(controller.rawValue) {
            guard Self.words(of: control)?.contains(controller.rawValue) != true else { continue }
            do throws(SystemError) { try Self.put("+\(controller.rawValue)", into: control) } catch { refusal = error }
        }
        let given = Self.words(of: control) ?? []
        let controllers = Set(Controller.allCases.filter { given.contains($0.rawValue) })
        guard !controllers.isEmpty else {
            throw ConnectorError(
                .unsupported,
                "groups below \(root) can bound neither memory nor processor time"
                    + (refusal.map { ": \($0.text)" } ?? ""),
                fix:
                    "run the host in a group of its own below the one that is delegated, as DelegateSubgroup= of systemd does"
            )
        }
        self.root = root
        self.controllers = controllers
        removeLeftovers()
    }

    /// Finds the directory: the named one, else the group above this process's own, else its own.
    ///
    /// Only hosts that are not root use the group above: if such a host can write it, it is delegated.
    ///
    /// - Parameter path: The named directory; nil for none.
    package static func find(_ path: String?) throws(ConnectorError) -> ControlGroups {
        if let path { return try ControlGroups(root: path) }
        guard let (own, mount) = ownGroup else { throw ConnectorError(.unsupported, "there are no control groups") }
        if own != mount, geteuid() != 0, let above = try? ControlGroups(root: own.parentPath) { return above }
        return try ControlGroups(root: own)
    }

    /// The directory of this process's group, and the mount point of the hierarchy.
    private static var ownGroup: (own: String, mount: String)? {
        guard let groups = text(of: "/proc/self/cgroup"), let mounts = text(of: "/proc/self/mountinfo"),
            let own = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })?.dropFirst(3)
        else { return nil }
        for line in mounts.split(separator: "\n") {
            // See proc_pid_mountinfo(5): the fifth field is the mount point; the file system type follows the dash.
            let fields = line.split(separator: " ")
            guard let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count, fields[dash + 1] == "cgroup2",
                fields.count > 4
            else { continue }
            let mount = String(fields[4])
            return (own == "/" ? mount : mount + own, mount)
        }
        return nil
    }

    /// Makes a group without bounds.
    package func make() throws(ConnectorError) -> ControlGroup {
        while true {
            let number = Self.lastNumber.add(1, ordering: .relaxed).newValue
            let path = "\(root)/\(Self.prefix)\(getpid())-\(number)"
            if unsafe mkdir(path, 0o755) == 0 { return ControlGroup(path: path) }
            // An earlier process of the same number left one, whose counts are not this runner's.
            guard errno == EEXIST else {
                throw ConnectorError(
                    .unavailable,
                    "no control group can be made",
                    cause: "\(path): \(SystemError().text)"
                )
            }
        }
    }

    /// Removes the groups left by hosts that have ended, unless a process is still in them.
    func removeLeftovers() {
        guard let entries = try? Directory.entries(of: root) else { return }
        for entry in entries where entry.name.hasPrefix(Self.prefix) {
            let host = entry.name.dropFirst(Self.prefix.count).prefix { $0 != "-" }
            // A running host may have just made its group.
            guard let number = pid_t(host), number != getpid(), kill(number, 0) != 0, errno == ESRCH else { continue }
            ControlGroup(path: "\(root)/\(entry.name)").remove()
        }
    }

    private static func text(of path: String) -> String? {
        (try? SystemFile.bytes(of: path, limit: 256 << 10)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func words(of path: String) -> [String]? {
        text(of: path)?.split { $0 == " " || $0 == "\n" }.map(String.init)
    }

    /// Writes a value into a file of a group.
    static func put(_ text: String, into path: String) throws(SystemError) {
        // A group's files already exist; a test's may not.
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw SystemError() }
        defer { close(file) }
        let bytes = Array(text.utf8)
        guard unsafe write(file, bytes, bytes.count) == bytes.count else { throw SystemError() }
    }
}

/// A host's control groups, looked up when the first runner with a bound starts.
package final class ControlGroupSource: Sendable {
    private let path: String?
    private let found = Mutex<Result<ControlGroups, ConnectorError>?>(nil)

    /// Creates a source.
    ///
    /// - Parameter path: The directory below which groups are made; nil looks for one.
    package init(_ path: String? = nil) {
        self.path = path
    }

    /// The groups.
    ///
    /// - Throws: `unsupported` if none are delegated to this process.
    package func groups() throws(ConnectorError) -> ControlGroups {
        try found.withLock { found in
            let result = found ?? Result { () throws(ConnectorError) in try ControlGroups.find(path) }
            found = result
            return result
        }.get()
    }
}
