// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .strictMemorySafety(),
]

let package = Package(
    name: "wallet-connectors",
    platforms: [.macOS(.v26)],
    products: [.library(name: "WalletConnectors", targets: ["WalletConnectors"])],
    dependencies: [.package(name: "connector-host", path: "../../..", traits: [])],
    targets: [
        // A plugin: ConnectorKit, and nothing of the host.
        .target(
            name: "Ledger",
            dependencies: [
                .product(name: "ConnectorKit", package: "connector-host"),
                .product(name: "ConnectorManifest", package: "connector-host"),
            ],
            swiftSettings: strict,
            plugins: [.plugin(name: "ConnectorManifestPlugin", package: "connector-host")]
        ),
        // What applications import: the plugins, linked, and their clients.
        .target(
            name: "WalletConnectors",
            dependencies: ["Ledger", .product(name: "ConnectorHost", package: "connector-host")],
            swiftSettings: strict
        ),
        .testTarget(
            name: "WalletConnectorsTests",
            dependencies: [
                "Ledger", "WalletConnectors",
                .product(name: "ConnectorHost", package: "connector-host"),
                .product(name: "ConnectorKit", package: "connector-host"),
                .product(name: "ConnectorManifest", package: "connector-host"),
                .product(name: "ConnectorSimulator", package: "connector-host"),
            ],
            swiftSettings: strict
        ),
    ]
)
