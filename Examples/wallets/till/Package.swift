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
    name: "till",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "connector-host", path: "../../..", traits: []),
        .package(name: "wallet-connectors", path: "../connectors"),
    ],
    targets: [
        .executableTarget(
            name: "till",
            dependencies: [
                .product(name: "ConnectorHost", package: "connector-host"),
                .product(name: "WalletConnectors", package: "wallet-connectors"),
            ],
            path: "Sources/Till",
            swiftSettings: strict
        )
    ]
)
