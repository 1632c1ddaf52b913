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
    traits: [
        .trait(name: "Web", description: "The option --web, which shows the host in a browser.")
    ],
    dependencies: [
        .package(
            name: "connector-host",
            path: "../..",
            traits: [.trait(name: "WebConsole", condition: .when(traits: ["Web"]))]
        )
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
                .product(
                    name: "ConnectorConsoleWeb",
                    package: "connector-host",
                    condition: .when(traits: ["Web"])
                ),
                .product(name: "ConnectorHost", package: "connector-host"),
            ],
            swiftSettings: strict
        ),
    ]
)
