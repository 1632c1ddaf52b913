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
    name: "screens",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "connector-host", path: "../..", traits: [])
    ],
    targets: [
        // A platform for scenes: plain text for a pipe. It knows nothing of the application.
        .target(
            name: "PlainText",
            dependencies: [.product(name: "ConnectorConsole", package: "connector-host")],
            swiftSettings: strict
        ),
        // The application and its scenes. They know nothing of the platform.
        .target(
            name: "Notes",
            dependencies: [.product(name: "ConnectorConsole", package: "connector-host")],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "screens",
            dependencies: [
                "Notes", "PlainText",
                .product(name: "ConnectorConsole", package: "connector-host"),
                .product(name: "ConnectorConsoleTerminal", package: "connector-host"),
                .product(name: "ConnectorHost", package: "connector-host"),
            ],
            path: "Sources/Screens",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ScreensTests",
            dependencies: [
                "Notes", "PlainText",
                .product(name: "ConnectorConsole", package: "connector-host"),
                .product(name: "ConnectorHost", package: "connector-host"),
                .product(name: "ConnectorHostTesting", package: "connector-host"),
            ],
            swiftSettings: strict
        ),
    ]
)
