// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The memory of processes.
package enum ProcessMemory {
    /// The private memory of a process, in bytes; nil if it has ended, and on systems without `/proc`.
    ///
    /// These are the resident pages that belong to no file. Unlike smaps, statm(5) can be read for any process.
    package static func privateBytes(of process: Int32) -> Int64? {
        guard let bytes = try? SystemFile.bytes(of: "/proc/\(process)/statm", limit: 256) else { return nil }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard fields.count > 2, let resident = Int64(fields[1]), let shared = Int64(fields[2]) else { return nil }
        return (resident - min(shared, resident)) * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }
}
