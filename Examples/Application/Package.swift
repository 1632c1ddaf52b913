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
    name: "example",
    platforms: [.macOS(.v26)],
    products: [
        .executable(name: "application", targets: ["Application"]),
        .library(name: "greeter", type: .dynamic, targets: ["greeter"]),
    ],
    dependencies: [
        // Without its trait CommandLine, and so without the packages that only the command needs.
        .package(name: "connector-host", path: "../..", traits: []),
        .package(name: "calculator-example", path: "../calculator"),
    ],
    targets: [
        .executableTarget(
            name: "Application",
            dependencies: [
                .product(name: "CalculatorClient", package: "calculator-example"),
                .product(name: "ConnectorHost", package: "connector-host"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "greeter",
            dependencies: [
                .product(name: "ConnectorKit", package: "connector-host"),
                .product(name: "ConnectorManifest", package: "connector-host"),
            ],
            swiftSettings: strict,
            plugins: [.plugin(name: "ConnectorManifestPlugin", package: "connector-host")]
        ),
        .testTarget(
            name: "ApplicationTests",
            dependencies: [
                .product(name: "ConnectorHost", package: "connector-host"),
                .product(name: "ConnectorSimulator", package: "connector-host"),
            ],
            swiftSettings: strict
        ),
    ]
)
