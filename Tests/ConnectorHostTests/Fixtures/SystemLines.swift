// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import ConnectorTestSupport
    import Glibc
#else
    import Darwin
#endif

/// The lines of a file of the system, such as one of proc(5), whose size is not known before it is read; none if it cannot be read.
func systemLines(_ path: String) -> [Substring] {
    guard let file = unsafe fopen(path, "r") else { return [] }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = unsafe fread(&buffer, 1, buffer.count, file)
        guard count > 0 else { break }
        bytes += buffer.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
}

/// Waits until a process has stopped.
func awaitStop(of process: pid_t) async throws {
    while systemLines("/proc/\(process)/stat").first?.contains(") T ") != true { try await Task.checkedYield() }
}
