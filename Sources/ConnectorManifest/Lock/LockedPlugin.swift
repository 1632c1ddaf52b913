// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a lock records about one image of a plugin: its bytes, and what the plugin offers and wants.
package struct LockedPlugin: Sendable, Hashable {
    /// The plugin's id.
    package var id: String
    /// The system and processor that the image is for, such as `linux-x86_64`.
    package var platform: String
    /// The version in the manifest.
    package var version: SemanticVersion
    /// The versions of the ABI that the plugin works with.
    package var abi: ClosedRange<UInt32>
    /// The size of the locked file, in bytes.
    package var size: Int
    /// The SHA-256 of the locked file: the image, or the sidecar of a library that the system provides.
    package var sha256: String
    /// The SHA-256 of the sidecar; nil if the image carries its own manifest.
    package var sidecar: String?
    /// The operations' signatures by name, for each capability.
    package var capabilities: [String: [String: Signature]]
    /// The host services that the plugin requires.
    package var services: Set<String>
    /// The host services that the plugin uses if the host has them.
    package var optionalServices: Set<String>
    /// The network hosts that the plugin connects to, as its manifest names them.
    package var hosts: Set<String>
    /// The gates that the plugin uses.
    package var uses: Set<GateUse>
    /// The libraries that ship beside the plugin.
    package var dependencies: Set<Dependency>

    /// A library that ships beside the plugin.
    package struct Dependency: Sendable, Hashable {
        /// The name of its file.
        package var name: String
        /// The SHA-256 of its bytes.
        package var sha256: String

        /// Creates a description of a library.
        package init(name: String, sha256: String) {
            self.name = name
            self.sha256 = sha256
        }
    }
}

extension LockedPlugin {
    /// Describes an image by its manifest and its bytes.
    package init(
        _ manifest: Manifest,
        platform: String,
        size: Int,
        sha256: String,
        sidecar: String?,
        dependencies: Set<Dependency>
    ) {
        self.init(
            id: manifest.id,
            platform: platform,
            version: manifest.version,
            abi: manifest.abi,
            size: size,
            sha256: sha256,
            sidecar: sidecar,
            capabilities: manifest.capabilities.reduce(into: [:]) { capabilities, capability in
                for operation in capability.operations {
                    capabilities[capability.id.description, default: [:]][operation.name] = operation.signature
                }
            },
            services: Set(manifest.requiredServices),
            optionalServices: Set(manifest.optionalServices),
            hosts: Set(manifest.egress),
            uses: Set(manifest.uses),
            dependencies: dependencies
        )
    }

    /// The entry, with the uses that are optional marked as such: an older lock names only the capability of each.
    ///
    /// - Parameter found: Describes the files as they are now; if they are not the ones that are locked, nothing is marked.
    package func completed(by found: LockedPlugin) -> LockedPlugin {
        guard sha256 == found.sha256, sidecar == found.sidecar else { return self }
        var entry = self
        entry.uses = Set(
            uses.map { use in found.uses.first { $0.name == use.name && $0.capability == use.capability } ?? use }
        )
        return entry
    }

    /// The id and the version, such as `segment 1.0.0`.
    package var name: String { "\(id) \(version)" }

    /// The platform that this process runs on.
    package static var hostPlatform: String {
        #if os(macOS)
            let system = "macos"
        #else
            let system = "linux"
        #endif
        #if arch(x86_64)
            return system + "-x86_64"
        #elseif arch(arm64)
            return system + "-arm64"
        #elseif arch(riscv64)
            return system + "-riscv64"
        #elseif arch(powerpc64le)
            return system + "-powerpc64le"
        #elseif arch(s390x)
            return system + "-s390x"
        #else
            return system + "-other"
        #endif
    }
}
