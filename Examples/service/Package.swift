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
    name: "service",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "connector-host", path: "../..", traits: []),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "PlaceService",
            dependencies: [
                .product(name: "ConnectorConsole", package: "connector-host"),
                .product(name: "ConnectorConsoleWeb", package: "connector-host"),
                .product(name: "ConnectorHost", package: "connector-host"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "service",
            dependencies: [
                "PlaceService",
                .product(name: "ConnectorHost", package: "connector-host"),
                .product(name: "ConnectorSimulator", package: "connector-host"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            path: "Sources/Service",
            swiftSettings: strict
        ),
        .testTarget(
            name: "PlaceServiceTests",
            dependencies: [
                "PlaceService",
                .product(name: "ConnectorHost", package: "connector-host"),
                .product(name: "ConnectorSimulator", package: "connector-host"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
    ]
)
