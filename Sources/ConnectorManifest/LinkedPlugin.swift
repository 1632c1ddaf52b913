// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A plugin's type that an application can link, instead of loading the plugin's image.
///
/// `ConnectorManifestPlugin` generates the conformance. An application that links the type's module makes a leaf of it:
///
/// ```swift
/// Connector("settings", plugin: Settings.self)
/// ```
public protocol LinkablePlugin {
    /// The plugin's manifest and functions.
    static var linkedPlugin: LinkedPlugin { get }
}

/// A plugin linked into this process: the manifest and the functions that its image would contain.
public struct LinkedPlugin: Sendable, Hashable {
    /// The manifest's text.
    public let manifest: [UInt8]
    /// The addresses of the exported functions, by symbol.
    private let functions: [String: UInt]
    /// What the functions answer by, if they were made at run time: it lives as long as the plugin, and they refer to it weakly.
    package let owner: (any AnyObject & Sendable)?

    /// Describes a plugin by its manifest and functions.
    ///
    /// Unsafe, because the host calls the functions by the types that the manifest implies, on any thread and until the process
    /// ends: see `connector/plugin.h` and `connector/operation.h`.
    ///
    /// - Parameters:
    ///   - manifest: The manifest's text, JSON in UTF-8.
    ///   - functions: The addresses of the C functions that the manifest names, by symbol.
    @unsafe
    public init(manifest: [UInt8], functions: [String: UInt]) {
        unsafe self.init(manifest: manifest, functions: functions, owner: nil)
    }

    /// Describes a plugin whose functions were made at run time.
    ///
    /// - Parameter owner: What the functions answer by.
    @unsafe
    package init(manifest: [UInt8], functions: [String: UInt], owner: (any AnyObject & Sendable)?) {
        self.manifest = manifest
        self.functions = functions
        self.owner = owner
    }

    /// Whether two plugins have the same manifest and functions.
    public static func == (one: LinkedPlugin, two: LinkedPlugin) -> Bool {
        one.manifest == two.manifest && one.functions == two.functions
    }

    /// Hashes the manifest and the functions.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(manifest)
        hasher.combine(functions)
    }

    /// The address of a function; nil if no function has this symbol.
    package func function(named symbol: String) -> UnsafeMutableRawPointer? {
        unsafe functions[symbol].flatMap { unsafe UnsafeMutableRawPointer(bitPattern: $0) }
    }
}
