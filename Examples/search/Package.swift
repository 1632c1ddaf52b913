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
    name: "search",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "connector-host", path: "../..", traits: [])
    ],
    targets: [
        .target(
            name: "SearchModel",
            dependencies: [
                .product(name: "ConnectorHost", package: "connector-host"),
                .product(name: "Integrator", package: "connector-host"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "search",
            dependencies: [
                "SearchModel",
                .product(name: "ConnectorHost", package: "connector-host"),
                .product(name: "ConnectorSimulator", package: "connector-host"),
                .product(name: "Integrator", package: "connector-host"),
            ],
            path: "Sources/Search",
            swiftSettings: strict
        ),
        .testTarget(
            name: "SearchTests",
            dependencies: [
                "SearchModel",
                .product(name: "ConnectorHost", package: "connector-host"),
                .product(name: "ConnectorHostTesting", package: "connector-host"),
                .product(name: "Integrator", package: "connector-host"),
            ],
            swiftSettings: strict
        ),
    ]
)
