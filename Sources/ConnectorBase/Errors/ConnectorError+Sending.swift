// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ConnectorError {
    /// How far a call got before the plugin's runner ended, the call's time was over or its task was cancelled. Reports and `--json`
    /// output carry its text as `sent`.
    ///
    /// A struct, so that values can be added without breaking a `switch` elsewhere.
    public struct Sending: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The stable text.
        public var rawValue: String

        /// Accepts any text; the known values are static members.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The stable text.
        public var description: String { rawValue }

        /// The call has not reached the plugin, which has done nothing.
        public static let no = Self(rawValue: "no")
        /// The runner had taken the call. Whether it had its effect is not known.
        public static let yes = Self(rawValue: "yes")
        /// Whether the runner had taken the call is not known.
        public static let unknown = Self(rawValue: "unknown")
    }

    /// Whether the time of the call was over before it reached the plugin, which says nothing about the gate.
    package var hadNoTime: Bool { code == .timedOut && sending == .no }
}
