// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The environment of this process.
package enum ProcessEnvironment {
    /// All variables, by name.
    package static var variables: [String: String] {
        var variables: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let pair = unsafe String(cString: text)
            if let sign = pair.utf8.firstIndex(of: UInt8(ascii: "=")) {
                variables[String(pair[..<sign])] = String(pair[pair.utf8.index(after: sign)...])
            }
            unsafe entry += 1
        }
        return variables
    }
}
