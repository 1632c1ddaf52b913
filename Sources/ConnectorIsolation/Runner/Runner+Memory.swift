// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#endif

extension Runner {
    /// The memory of the process that it shares with nobody, in bytes; nil if it has ended, and on systems without `/proc`.
    ///
    /// These are the resident pages of no file: statm(5) can be read of any process, in contrast to smaps.
    package var privateMemory: Int64? {
        #if os(Linux)
            let descriptor = unsafe open("/proc/\(processNumber)/statm", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            var buffer = [UInt8](repeating: 0, count: 256)
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            let fields = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ")
            guard fields.count > 2, let resident = Int64(fields[1]), let shared = Int64(fields[2]) else { return nil }
            return (resident - min(shared, resident)) * Int64(sysconf(Int32(_SC_PAGESIZE)))
        #else
            return nil
        #endif
    }
}
