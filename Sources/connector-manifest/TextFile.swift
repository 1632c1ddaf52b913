// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Reads and writes whole files without Foundation, the launch time of which every plugin's build would pay for.
enum TextFile {
    /// Reads a file, up to just past a limit.
    static func read(_ path: String, limit: Int = Manifest.sizeLimit) throws(ConnectorError) -> [UInt8] {
        guard let file = unsafe fopen(path, "rb") else { throw failure("read", path) }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
            // One byte past the limit is enough for the caller to see that there is more.
            guard bytes.count <= limit else { break }
        }
        guard unsafe ferror(file) == 0 else { throw failure("read", path) }
        return bytes
    }

    /// Writes a file, unless it already holds the text, so that nothing is recompiled without need.
    static func write(_ text: String, to path: String) throws(ConnectorError) {
        let bytes = Array(text.utf8)
        if unsafe access(path, R_OK) == 0, try read(path, limit: bytes.count) == bytes { return }
        guard let file = unsafe fopen(path, "wb") else { throw failure("write", path) }
        let count = unsafe fwrite(bytes, 1, bytes.count, file)
        guard unsafe fclose(file) == 0, count == bytes.count else { throw failure("write", path) }
    }

    private static func failure(_ verb: String, _ path: String) -> ConnectorError {
        let reason = unsafe String(cString: strerror(errno))
        return ConnectorError(.unreadable, "cannot \(verb) \(path): \(reason)")
    }
}
