// swift-tools-version: 6.2
import PackageDescription

/// What authors of plugins in Swift need of connector-host, without the host, and so without third-party packages.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .strictMemorySafety(),
]

let package = Package(
    name: "connector-kit",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "ConnectorKit", targets: ["ConnectorKit"]),
        .library(name: "ConnectorManifest", targets: ["ConnectorManifest"]),
        .plugin(name: "ConnectorManifestPlugin", targets: ["ConnectorManifestPlugin"]),
    ],
    targets: [
        .target(name: "CConnector"),
        .target(name: "ConnectorBase", swiftSettings: strict),
        .target(name: "ConnectorCapabilities", dependencies: ["ConnectorBase"], swiftSettings: strict),
        .target(
            name: "ConnectorManifest",
            dependencies: ["ConnectorBase", "ConnectorCapabilities"],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorKit",
            dependencies: ["CConnector", "ConnectorBase", "ConnectorManifest"],
            swiftSettings: strict
        ),
        .executableTarget(name: "connector-manifest", dependencies: ["ConnectorManifest"], swiftSettings: strict),
        .plugin(
            name: "ConnectorManifestPlugin",
            capability: .buildTool(),
            dependencies: ["connector-manifest"],
            path: "Sources/ConnectorManifestPlugin"
        ),
    ]
)
