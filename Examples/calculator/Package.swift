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
        .executableTarget(
            name: "CalculatorApp",
            dependencies: [
                "CalculatorClient",
                .product(name: "ConnectorConsole", package: "connector-host"),
                .product(name: "ConnectorConsoleTerminal", package: "connector-host"),
                .product(name: "ConnectorHost", package: "connector-host"),
            ],
            swiftSettings: strict
        ),
    ]
)
