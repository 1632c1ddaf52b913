// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A version according to Semantic Versioning 2.0.0, without build metadata.
public struct SemanticVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number that rises with breaking changes.
    public var major: UInt32
    /// The number that rises with compatible additions.
    public var minor: UInt32
    /// The number that rises with corrections.
    public var patch: UInt32
    /// The identifiers after `-`; empty for a release.
    public var prerelease: [String]

    /// Creates the version of a release.
    public init(_ major: UInt32, _ minor: UInt32, _ patch: UInt32) {
        self.major = major
        self.minor = minor
        self.patch = patch
        self.prerelease = []
    }

    /// Reads `1.2.3` or `1.2.3-beta.1`; nil for anything else.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        let dot = UInt8(ascii: ".")
        let numbers = parts[0].split(separator: dot, omittingEmptySubsequences: false).map { part -> UInt32? in
            let isCanonical = (part.count == 1 || part.first != 0x30) && part.allSatisfy(\.isDigit)
            return isCanonical ? UInt32(Substring(part)) : nil
        }
        guard numbers.count == 3, let major = numbers[0], let minor = numbers[1], let patch = numbers[2] else {
            return nil
        }
        self.init(major, minor, patch)
        guard parts.count == 2 else { return }
        prerelease = parts[1].split(separator: dot, omittingEmptySubsequences: false).map { String(Substring($0)) }
        let isValid = prerelease.allSatisfy { identifier in
            let isNumber = identifier.utf8.allSatisfy(\.isDigit)
            return !identifier.isEmpty && !(isNumber && identifier.count > 1 && identifier.first == "0")
                && identifier.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
        }
        guard isValid else { return nil }
    }

    /// The version as written in a manifest.
    public var description: String {
        "\(major).\(minor).\(patch)" + (prerelease.isEmpty ? "" : "-" + prerelease.joined(separator: "."))
    }

    /// Compares precedence according to section 11 of the standard.
    public static func < (left: Self, right: Self) -> Bool {
        let numbers = ((left.major, left.minor, left.patch), (right.major, right.minor, right.patch))
        guard numbers.0 == numbers.1 else { return numbers.0 < numbers.1 }
        if left.prerelease.isEmpty || right.prerelease.isEmpty {
            return !left.prerelease.isEmpty && right.prerelease.isEmpty
        }
        for (first, second) in zip(left.prerelease, right.prerelease) where first != second {
            switch (UInt64(first), UInt64(second)) {
            case (let first?, let second?): return first < second
            case (.some, nil): return true
            case (nil, .some): return false
            case (nil, nil): return first < second
            }
        }
        return left.prerelease.count < right.prerelease.count
    }
}
