// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A host whose file, or whose plugin, changes while it runs.
struct ReloadTarget: Sendable {
    /// The host, with all of its gates open.
    let host: ConnectorHost
    /// The connector that changes.
    let path: String
    private let folder: String
    private let count: Int

    /// Opens a number of gates, with the plugins of the folder for that number.
    init(files: String, count: Int) async throws {
        folder = "\(files)/reload-\(count)"
        self.count = count
        path = Self.name(count / 2)
        _ = try ChildProcess.output(["rm", "-rf", folder])
        _ = try ChildProcess.output(["mkdir", folder])
        _ = try ChildProcess.output(["cp", "-r", "\(files)/\(count)/plugins", folder])
        try Self.write(folder, count, changed: 0)
        host = try ConnectorHost(file: "\(folder)/connectors.json")
        try await host.open().requireReady()
    }

    /// Closes the gates, and removes the files.
    func close() async throws {
        await host.close()
        _ = try ChildProcess.output(["rm", "-r", folder])
    }

    private static func name(_ number: Int) -> String { "gate-" + String("000\(number)".suffix(4)) }

    private static func write(_ folder: String, _ count: Int, changed: Int) throws {
        let gates = (0..<count).map { number in
            let plugin = "quick-" + String("000\(number)".suffix(4))
            let key = number == count / 2 ? "k-\(changed)" : "k"
            return #"{"name": "\#(name(number))", "plugin": "\#(plugin)", "config": {"key": "\#(key)"}}"#
        }
        let text = #"{"version": 1, "plugins": ["plugins"], "connectors": [\#(gates.joined(separator: ",\n"))]}"#
        try replace("\(folder)/connectors.json", with: Array(text.utf8))
    }

    private static func replace(_ path: String, with bytes: [UInt8]) throws {
        guard let file = unsafe fopen("\(path).new", "w") else { throw Failure("\(path).new cannot be written") }
        let count = unsafe fwrite(bytes, 1, bytes.count, file)
        guard unsafe fclose(file) == 0, count == bytes.count, unsafe rename("\(path).new", path) == 0 else {
            throw Failure("\(path) cannot be written")
        }
    }

    /// Writes the file with another setting of the connector that changes.
    func change(_ number: Int) throws { try Self.write(folder, count, changed: number) }

    /// Takes up the file, which must have changed.
    ///
    /// - Returns: How many nanoseconds it took.
    func reload() async throws -> Double {
        let start = ContinuousClock.now
        let reload = await host.reload()
        let duration = ContinuousClock.now - start
        try reload.requireActive()
        guard reload.plan?.changes.map(\.path) == [path] else {
            throw Failure("the reload did not change \(path) alone")
        }
        return Double(duration.nanoseconds)
    }

    /// Opens the connector that changes, after closing it.
    ///
    /// - Returns: How many nanoseconds it took.
    func openAgain() async throws -> Double {
        try await host.close(path)
        let start = ContinuousClock.now
        try await host.open(path).requireReady()
        return Double((ContinuousClock.now - start).nanoseconds)
    }

    /// The image of the connector that changes.
    func image() throws -> [UInt8] {
        let path = "\(folder)/plugins/libquick-\(self.path.suffix(4)).so"
        guard let file = unsafe fopen(path, "r") else { throw Failure("\(path) cannot be read") }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }

    /// Puts the image in place with other bytes at its end, which the linker ignores.
    func place(_ image: [UInt8], _ number: Int) throws {
        let mark = Array("\(number)".utf8)
        let path = "\(folder)/plugins/libquick-\(self.path.suffix(4)).so"
        try Self.replace(path, with: image + mark + [UInt8](repeating: 0, count: 16 - mark.count))
    }
}
