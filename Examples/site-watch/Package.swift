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
    name: "site-watch",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "connector-host", path: "../..", traits: [])
    ],
    targets: [
        // Sites, bounds, notices: a server behind a protocol, and no screen.
        .target(
            name: "SiteWatchModel",
            dependencies: [
                .product(name: "ConnectorHost", package: "connector-host"),
                .product(name: "ConnectorHostTesting", package: "connector-host"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "SiteWatchScenes",
            dependencies: [
                "SiteWatchModel",
                .product(name: "ConnectorConsole", package: "connector-host"),
                .product(name: "ConnectorHost", package: "connector-host"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "site-watch",
            dependencies: [
                "SiteWatchModel", "SiteWatchScenes",
                .product(name: "ConnectorConsole", package: "connector-host"),
                .product(name: "ConnectorConsoleTerminal", package: "connector-host"),
                .product(name: "ConnectorConsoleWeb", package: "connector-host"),
                .product(name: "ConnectorHost", package: "connector-host"),
            ],
            path: "Sources/SiteWatch",
            swiftSettings: strict
        ),
        .testTarget(
            name: "SiteWatchTests",
            dependencies: [
                "SiteWatchModel", "SiteWatchScenes",
                .product(name: "ConnectorConsole", package: "connector-host"),
                .product(name: "ConnectorHost", package: "connector-host"),
                .product(name: "ConnectorHostTesting", package: "connector-host"),
            ],
            swiftSettings: strict
        ),
    ]
)
