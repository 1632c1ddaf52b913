// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "rates",
    platforms: [.macOS(.v26)],
    products: [.library(name: "rates", type: .dynamic, targets: ["rates"])],
    dependencies: [
        // Without its trait CommandLine, and so without the packages that only the command needs.
        .package(name: "connector-host", path: "../..", traits: [])
    ],
    targets: [
        .target(
            name: "rates",
            dependencies: [
                .product(name: "ConnectorKit", package: "connector-host"),
                .product(name: "ConnectorManifest", package: "connector-host"),
            ],
            plugins: [.plugin(name: "ConnectorManifestPlugin", package: "connector-host")]
        ),
        .testTarget(
            name: "RatesTests",
            dependencies: [
                "rates",
                .product(name: "ConnectorKit", package: "connector-host"),
                .product(name: "ConnectorHost", package: "connector-host"),
                .product(name: "ConnectorHostTesting", package: "connector-host"),
            ]
        ),
    ]
)
