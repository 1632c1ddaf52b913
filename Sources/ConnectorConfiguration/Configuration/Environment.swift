// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension Configuration {
    /// The variables that `${NAME}` and `env:NAME` read, and the program's own, such as `CONNECTOR_PLUGIN_PATH` and `HTTPS_PROXY`.
    ///
    /// ```swift
    /// let process = Configuration.Environment.process
    /// let options = ConnectorHost.Options(environment: process.merging(["REGION": "eu"]))
    /// let others = ConnectorHost.Options(environment: .init { name in vault.secret(name) ?? process[name] })
    /// ```
    public struct Environment: Sendable {
        private let lookUp: @Sendable (String) -> SystemText?

        private init(lookUp: @escaping @Sendable (String) -> SystemText?) {
            self.lookUp = lookUp
        }

        /// Reads variables from a dictionary, and none from the process.
        public init(_ variables: [String: String]) {
            self.init(lookUp: { name in variables[name].map { SystemText($0) } })
        }

        /// Reads variables from a function, such as one that asks a vault, and none from the process.
        ///
        /// The host calls it whenever it reads a variable: for a secret `env:NAME` again before a failed gate is tried, and when the
        /// vendor refuses the secret. Calls come on any thread, also concurrently. They should return at once, for example from a cache
        /// that the application refreshes: opening, reloading or a proof waits meanwhile.
        ///
        /// - Parameter value: The value of a variable; nil if it is not set.
        public init(_ value: @escaping @Sendable (_ name: String) -> String?) {
            self.init(lookUp: { name in value(name).map { SystemText($0) } })
        }

        /// The same variables and more; of those with the same name, the given ones count.
        public func merging(_ variables: [String: String]) -> Environment {
            Environment(lookUp: { name in variables[name].map { SystemText($0) } ?? lookUp(name) })
        }

        /// The variables of this process, looked up at each use.
        public static let process = Environment(lookUp: { name in
            unsafe getenv(name).map { unsafe SystemText(cString: $0) }
        })

        /// The value of a variable; nil if it is not set.
        public subscript(name: String) -> String? { lookUp(name)?.shown }

        /// Whether a variable is set to bytes that are not UTF-8 text; the text of its value then differs from them.
        package func isDamaged(_ name: String) -> Bool { lookUp(name).map { $0.text == nil } ?? false }

        /// The value of a variable as the system has it, for a child process; nil if it is not set.
        package func systemText(_ name: String) -> SystemText? { lookUp(name) }

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
