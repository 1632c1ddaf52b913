// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ConnectorError {
    /// A kind of failure. Reports and `--json` output carry its text.
    ///
    /// A struct, so that kinds can be added without breaking a `switch` elsewhere.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The stable text, in kebab case.
        public var rawValue: String

        /// Accepts any text; the known codes are static members.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The stable text.
        public var description: String { rawValue }
    }
}

/// Failures of files and their text.
extension ConnectorError.Code {
    /// A file or directory does not exist.
    public static let notFound = Self(rawValue: "not-found")
    /// A file exists but cannot be read.
    public static let unreadable = Self(rawValue: "unreadable")
    /// Text does not follow its format: JSON, a signature, a version.
    public static let syntax = Self(rawValue: "syntax")
}

/// Failures of plugins before any of their code runs.
extension ConnectorError.Code {
    /// The file is not an image in the system's format: ELF or, on macOS, Mach-O.
    public static let notELF = Self(rawValue: "not-elf")
    /// The file ends before the size that its headers state.
    public static let truncated = Self(rawValue: "truncated")
    /// The image was built for another processor or word size.
    public static let wrongArchitecture = Self(rawValue: "wrong-architecture")
    /// The image is a program, not a shared library.
    public static let executable = Self(rawValue: "executable")
    /// A shared library that the image needs is not on this system.
    public static let missingDependency = Self(rawValue: "missing-dependency")
    /// None of the image's dependencies has a symbol that it needs.
    public static let missingSymbol = Self(rawValue: "missing-symbol")
    /// A dependency exists but is too old.
    public static let missingSymbolVersion = Self(rawValue: "missing-symbol-version")
    /// The image carries no manifest, and there is none beside it.
    public static let noManifest = Self(rawValue: "no-manifest")
    /// The manifest breaks its rules.
    public static let invalidManifest = Self(rawValue: "invalid-manifest")
    /// The manifest in the image and the one beside it differ.
    public static let manifestMismatch = Self(rawValue: "manifest-mismatch")
    /// The plugin needs a version of the ABI that this host does not speak.
    public static let unsupportedABI = Self(rawValue: "unsupported-abi")
    /// The image does not export a symbol that the manifest names.
    public static let symbolAbsent = Self(rawValue: "symbol-absent")
    /// An operation's signature is not the one its capability requires.
    public static let signatureMismatch = Self(rawValue: "signature-mismatch")
    /// The dynamic linker refused the image for a reason no other code names.
    public static let loadFailed = Self(rawValue: "load-failed")
    /// Two different images claim the same plugin and version.
    public static let ambiguousPlugin = Self(rawValue: "ambiguous-plugin")
    /// No usable plugin has the id that a connector names.
    public static let unknownPlugin = Self(rawValue: "unknown-plugin")
    /// The lock beside the configuration does not list the plugin's bytes.
    public static let notLocked = Self(rawValue: "not-locked")
    /// The signature beside a plugin's file does not match its bytes.
    public static let badSignature = Self(rawValue: "bad-signature")
}

/// Failures of the configuration file.
extension ConnectorError.Code {
    /// A key that the format does not know.
    public static let unknownKey = Self(rawValue: "unknown-key")
    /// A value of another type than the format or the plugin requires.
    public static let wrongType = Self(rawValue: "wrong-type")
    /// A value outside the allowed range.
    public static let invalidValue = Self(rawValue: "invalid-value")
    /// A required value is absent.
    public static let missingValue = Self(rawValue: "missing-value")
    /// Two sibling connectors share one name.
    public static let duplicateName = Self(rawValue: "duplicate-name")
    /// An environment variable that the file refers to is not set.
    public static let missingVariable = Self(rawValue: "missing-variable")
    /// A secret's file is absent, unreadable or readable by others.
    public static let secretUnavailable = Self(rawValue: "secret-unavailable")
    /// `after` names a connector that does not exist.
    public static let unknownConnector = Self(rawValue: "unknown-connector")
    /// Connectors depend on each other in a cycle, or files include each other.
    public static let dependencyCycle = Self(rawValue: "dependency-cycle")
}

/// Failures of gates, calls and vendors.
extension ConnectorError.Code {
    /// Failed, for a reason that no other code names.
    public static let failed = Self(rawValue: "failed")
    /// The arguments or the configuration are wrong; the same call fails again.
    public static let invalid = Self(rawValue: "invalid")
    /// The vendor or the plugin cannot do this.
    public static let unsupported = Self(rawValue: "unsupported")
    /// The vendor refused the credentials.
    public static let unauthorized = Self(rawValue: "unauthorized")
    /// The object of a call does not exist.
    public static let missing = Self(rawValue: "missing")
    /// The object has changed since it was read, or exists already.
    public static let conflict = Self(rawValue: "conflict")
    /// Too many calls.
    public static let rateLimited = Self(rawValue: "rate-limited")
    /// The vendor cannot be reached, or reports that it is temporarily unavailable.
    public static let unavailable = Self(rawValue: "unavailable")
    /// The deadline passed.
    public static let timedOut = Self(rawValue: "timed-out")
    /// The plugin or the vendor abandoned a call that the caller had not cancelled.
    public static let aborted = Self(rawValue: "aborted")
    /// The caller's own task was cancelled.
    public static let cancelled = Self(rawValue: "cancelled")
    /// The outbox could not read or write its storage; nothing has changed.
    public static let storage = Self(rawValue: "storage")
    /// The host does not permit it.
    public static let denied = Self(rawValue: "denied")
    /// More bytes than a limit allows.
    public static let tooLarge = Self(rawValue: "too-large")
    /// An answer that breaks its protocol.
    public static let protocolViolation = Self(rawValue: "protocol")
    /// The gates are simulated, but this one's vendor has no simulator.
    public static let notSimulated = Self(rawValue: "not-simulated")
    /// The gate is not open.
    public static let notOpen = Self(rawValue: "not-open")
    /// Only some of a composite's required connectors took the call: see ``ConnectorError/outcomes``.
    public static let partial = Self(rawValue: "partial")
    /// The plugin broke a rule of the ABI.
    public static let misbehaved = Self(rawValue: "misbehaved")
    /// The runner that carries the plugin has ended: the message says how, and whether the call was sent.
    public static let crashed = Self(rawValue: "crashed")
}
