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
    name: "calculator-example",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "CalculatorClient", targets: ["CalculatorClient"]),
        .library(name: "calculator-swift", type: .dynamic, targets: ["calculator-swift"]),
        .executable(name: "calculator-app", targets: ["CalculatorApp"]),
    ],
    dependencies: [
        .package(name: "connector-host", path: "../..", traits: [])
    ],
    targets: [
        .target(
            name: "CalculatorClient",
            dependencies: [.product(name: "ConnectorHost", package: "connector-host")],
            swiftSettings: strict
        ),
        // The second engine.
        .target(
            name: "calculator-swift",
            dependencies: [
                .product(name: "ConnectorKit", package: "connector-host"),
                .product(name: "ConnectorManifest", package: "connector-host"),
            ],
            swiftSettings: strict,
            plugins: [.plugin(name: "ConnectorManifestPlugin", package: "connector-host")]
        ),
        // The presenter: it knows neither a host nor a platform.
        .target(name: "CalculatorModel", swiftSettings: strict),
        .target(
            name: "CalculatorScenes",
            dependencies: ["CalculatorModel", .product(name: "ConnectorConsole", package: "connector-host")],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "CalculatorApp",
            dependencies: [
                "CalculatorClient", "CalculatorModel", "CalculatorScenes",
                .product(name: "ConnectorConsole", package: "connector-host"),
                .product(name: "ConnectorConsoleTerminal", package: "connector-host"),
                .product(name: "ConnectorConsoleWeb", package: "connector-host"),
                .product(name: "ConnectorHost", package: "connector-host"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CalculatorTests",
            dependencies: [
                "CalculatorModel", "CalculatorScenes",
                .product(name: "ConnectorConsole", package: "connector-host"),
                .product(name: "ConnectorHostTesting", package: "connector-host"),
            ],
            swiftSettings: strict
        ),
    ]
)
