// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension Configuration {
    /// The variables that `${NAME}` and `env:NAME` read.
    public struct Environment: Sendable {
        private let lookUp: @Sendable (String) -> String?

        private init(lookUp: @escaping @Sendable (String) -> String?) {
            self.lookUp = lookUp
        }

        /// Reads variables from a dictionary, and none from the process.
        public init(_ variables: [String: String]) {
            self.init { variables[$0] }
        }

        /// The variables of this process, looked up at each use.
        public static let process = Environment { name in
            unsafe getenv(name).map { unsafe String(cString: $0) }
        }

        /// The value of a variable; nil if it is not set.
        public subscript(name: String) -> String? { lookUp(name) }

        /// Whether the encoding of the locale is UTF-8, so that a terminal shows characters beyond ASCII.
        package var isUnicode: Bool {
            // The order of setlocale(3).
            let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { self[$0] }.first { !$0.isEmpty } ?? ""
            // Compares bytes: the first substring search in a process takes 0.2 ms.
            let charset = locale.utf8.filter { $0 != UInt8(ascii: "-") }.map { $0 | 0x20 }
            return charset.indices.contains { charset[$0...].starts(with: "utf8".utf8) }
        }
    }
}
