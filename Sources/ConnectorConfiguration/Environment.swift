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
    }
}
