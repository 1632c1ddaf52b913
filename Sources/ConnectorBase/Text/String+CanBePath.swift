// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Whether a file can have the text as its path: it is not empty, not longer than Linux's PATH_MAX, and without NUL.
    package var canBePath: Bool { (1...4096).contains(utf8.count) && !utf8.contains(0) }

    /// Checks a path that the application gives in Swift: the system would take one with a NUL to end there, and use another file.
    ///
    /// - Parameters:
    ///   - name: What the error calls the path.
    ///   - code: The code of the error.
    package func checkPath(
        _ name: String,
        _ code: ConnectorError.Code = .invalidValue
    ) throws(ConnectorError) {
        guard !canBePath else { return }
        throw ConnectorError(
            code,
            "\(name) is \"\(excerpt)\", which cannot be a path",
            fix: "give a path of 1 to 4096 bytes, without NUL"
        )
    }
}
