// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The file that keeps the results.
enum ResultsFile {
    /// Replaces the file.
    static func write(_ document: JSONValue, to path: String) throws {
        guard let stream = unsafe fopen(path, "w") else { throw Failure("\(path) cannot be written") }
        let isWritten = unsafe fputs(document.serialized(pretty: true) + "\n", stream) >= 0
        guard unsafe fclose(stream) == 0, isWritten else { throw Failure("\(path) cannot be written") }
    }
}
