// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a lock says of one image of a plugin: its bytes, and what the plugin offers and wants.
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
    /// The SHA-256 of the sidecar, if the image carries no manifest; nil if it does.
    package var sidecar: String?
    /// The signatures of the operations by name, by capability.
    package var capabilities: [String: [String: Signature]]
    /// The host services that the plugin requires.
    package var services: Set<String>
    /// The host services that the plugin uses if the host has them.
    package var optionalServices: Set<String>
    /// The network hosts that the plugin connects to, as its manifest names them.
    package var hosts: Set<String>
    /// The capabilities that the plugin uses, by the names in its manifest.
    package var uses: [String: String]
    /// The libraries that the plugin brings along beside it.
    package var dependencies: Set<Dependency>

    /// A library that the plugin brings along.
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
            uses: manifest.uses.reduce(into: [:]) { $0[$1.name] = $1.capability.description },
            dependencies: dependencies
        )
    }

    init(
        id: String,
        platform: String,
        version: SemanticVersion,
        abi: ClosedRange<UInt32>,
        size: Int,
        sha256: String,
        sidecar: String?,
        capabilities: [String: [String: Signature]],
        services: Set<String>,
        optionalServices: Set<String>,
        hosts: Set<String>,
        uses: [String: String],
        dependencies: Set<Dependency>
    ) {
        self.id = id
        self.platform = platform
        self.version = version
        self.abi = abi
        self.size = size
        self.sha256 = sha256
        self.sidecar = sidecar
        self.capabilities = capabilities
        self.services = services
        self.optionalServices = optionalServices
        self.hosts = hosts
        self.uses = uses
        self.dependencies = dependencies
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
