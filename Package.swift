// swift-tools-version: 6.2
import PackageDescription

/// The language settings every Swift target of this package is compiled with.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .strictMemorySafety(),
]

/// The adapters this package ships, one folder each under `Plugins/`, one dynamic library each.
let adapters = [
    "segment", "posthog", "influxdb", "sentry", "bugsnag", "parse", "kinto", "nominatim", "photon", "google",
]

/// What lies below the host, lowest first. Users import `ConnectorHost`, which passes on what is public of them.
let layers: [Target.Dependency] = [
    "ConnectorPlatform", "ConnectorOutbox", "ConnectorLoading", "ConnectorInvocation", "ConnectorServices",
]

/// Queues that grow at one end and shrink at the other.
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")

let package = Package(
    name: "connector-host",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "ConnectorHost", targets: ["ConnectorHost"]),
        .library(name: "ConnectorKit", targets: ["ConnectorKit"]),
        .library(name: "ConnectorHostTesting", targets: ["ConnectorHostTesting"]),
        .library(name: "ConnectorConsole", targets: ["ConnectorConsole"]),
        .library(name: "ConnectorConsoleTerminal", targets: ["ConnectorConsoleTerminal"]),
        .library(name: "ConnectorConsoleWeb", targets: ["ConnectorConsoleWeb"]),
        .library(name: "ConnectorManifest", targets: ["ConnectorManifest"]),
        .library(name: "ConnectorSimulator", targets: ["ConnectorSimulator"]),
        .library(name: "Integrator", targets: ["Integrator"]),
        .executable(name: "connector-host", targets: ["connector-host"]),
        .plugin(name: "ConnectorManifestPlugin", targets: ["ConnectorManifestPlugin"]),
    ] + adapters.map { .library(name: $0, type: .dynamic, targets: [$0]) },
    traits: [
        .default(enabledTraits: ["CommandLine"]),
        .trait(
            name: "CommandLine",
            description: "The command connector-host; the libraries do without.",
            enabledTraits: ["WebConsole"]
        ),
        .trait(name: "WebConsole", description: "The product ConnectorConsoleWeb, the console in the browser."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        // The HTTP client needs it anyway.
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        // Hummingbird's requests and responses.
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        // The HTTP client needs it anyway.
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        // For a server in the tests alone; the HTTP client needs it anyway.
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        // Serves the console in the browser; resolved with the trait WebConsole alone. Its own traits need Foundation.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(name: "CConnector"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(name: "CFFI", pkgConfig: "libffi", providers: [.apt(["libffi-dev"]), .brew(["libffi"])]),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        // Opens the client of NATS at run time, if it is asked for.
        .target(name: "CNATS"),
        // What a signal handler may do, it does in C.
        .target(name: "CFatalSignal"),
        .target(name: "ConnectorManifest", swiftSettings: strict),
        // Depends on nothing: plugins and applications are linked with it.
        .target(name: "ConnectorOneShot", swiftSettings: strict),
        // The layers of the host: each depends on those before it alone.
        .target(
            name: "ConnectorPlatform",
            dependencies: ["CFatalSignal", "CZlib", "ConnectorManifest", "ConnectorOneShot", deque],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorOutbox",
            dependencies: ["CNATS", "CSQLite", "ConnectorManifest", "ConnectorOneShot", "ConnectorPlatform", deque],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorLoading",
            dependencies: [
                "CConnector", "ConnectorManifest", "ConnectorPlatform",
                .target(name: "CSodium", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorInvocation",
            dependencies: [
                "CConnector", "CFFI", "ConnectorManifest", "ConnectorOneShot", "ConnectorPlatform", "ConnectorLoading",
                deque,
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorServices",
            dependencies: [
                "CConnector", "CZlib", "ConnectorManifest", "ConnectorOneShot", "ConnectorPlatform", "ConnectorLoading",
                "ConnectorInvocation",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                deque,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorHost",
            dependencies: layers + [
                "ConnectorManifest", "ConnectorOneShot", "Integrator",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        // A host's API on a Unix socket, for programs that offer one.
        .target(
            name: "ConnectorControl",
            dependencies: [
                "ConnectorPlatform", "ConnectorOutbox", "ConnectorLoading", "ConnectorInvocation", "ConnectorServices",
                "ConnectorHost", "ConnectorManifest",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorKit",
            dependencies: ["CConnector", "ConnectorManifest", "ConnectorOneShot"],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorSimulator",
            dependencies: [
                "ConnectorManifest", "ConnectorPlatform",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorHostTesting",
            dependencies: layers + [
                "CConnector", "ConnectorHost", "ConnectorManifest", "ConnectorOneShot",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .target(name: "Integrator", dependencies: ["ConnectorOneShot"], swiftSettings: strict),
        // The console: an interface on values, and the terminal that it can be mounted in.
        .target(
            name: "ConnectorConsole",
            dependencies: layers + ["ConnectorHost", "ConnectorManifest"],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorConsoleTerminal",
            dependencies: ["ConnectorConsole", "ConnectorHost", "ConnectorManifest", "ConnectorPlatform"],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorConsoleWeb",
            dependencies: layers + [
                "ConnectorConsole", "ConnectorControl", "ConnectorHost", "ConnectorManifest",
                .product(
                    name: "HummingbirdCore",
                    package: "hummingbird",
                    condition: .when(traits: ["WebConsole"])
                ),
                .product(
                    name: "HummingbirdTLS",
                    package: "hummingbird",
                    condition: .when(traits: ["WebConsole"])
                ),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["WebConsole"])),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: .when(traits: ["WebConsole"])),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [
                .embedInCode("Assets/console.css"), .embedInCode("Assets/console.js"), .embedInCode("Assets/icon.svg"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorHostCommands",
            dependencies: layers + [
                "ConnectorConsole", "ConnectorConsoleTerminal", "ConnectorConsoleWeb", "ConnectorControl",
                "ConnectorHost",
                "ConnectorManifest", "ConnectorSimulator",
                .product(
                    name: "ArgumentParser",
                    package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLine"])
                ),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(name: "connector-host", dependencies: ["ConnectorHostCommands"], swiftSettings: strict),
        .executableTarget(name: "connector-manifest", dependencies: ["ConnectorManifest"], swiftSettings: strict),
        .target(
            name: "CBenchmark",
            dependencies: ["CConnector", "CFFI"],
            path: "Benchmarks/Sources/CBenchmark"
        ),
        .executableTarget(
            name: "connector-bench",
            dependencies: layers + [
                "ConnectorConsole", "ConnectorConsoleWeb", "ConnectorHost", "ConnectorManifest", "ConnectorOneShot",
                "CBenchmark",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Benchmarks/Sources/connector-bench",
            swiftSettings: strict
        ),
        .plugin(
            name: "ConnectorManifestPlugin",
            capability: .buildTool(),
            dependencies: ["connector-manifest"],
            path: "Sources/ConnectorManifestPlugin"
        ),
        // What the tests of several targets share.
        .target(
            name: "ConnectorTestSupport",
            dependencies: ["ConnectorManifest", "ConnectorOneShot", "ConnectorOutbox", "ConnectorPlatform"],
            path: "Tests/ConnectorTestSupport",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorManifestTests",
            dependencies: ["ConnectorManifest", "ConnectorTestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorControlTests",
            dependencies: [
                "ConnectorControl", "ConnectorHost", "ConnectorHostTesting", "ConnectorManifest", "ConnectorServices",
                "ConnectorTestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorOutboxTests",
            dependencies: [
                "ConnectorOutbox", "ConnectorManifest", "ConnectorOneShot", "ConnectorPlatform", "ConnectorTestSupport",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorHostTests",
            dependencies: layers + [
                "ConnectorHost", "ConnectorManifest", "ConnectorHostTesting", "ConnectorOneShot",
                "ConnectorTestSupport", "CConnector",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorConsoleTests",
            dependencies: layers + [
                "ConnectorConsole", "ConnectorConsoleTerminal", "ConnectorConsoleWeb", "ConnectorHost",
                "ConnectorHostTesting", "ConnectorManifest", "ConnectorTestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorSimulatorTests",
            dependencies: [
                "ConnectorSimulator", "ConnectorManifest", "ConnectorTestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorHostCommandsTests",
            dependencies: [
                "ConnectorHostCommands", "ConnectorHost", "ConnectorManifest", "ConnectorOutbox", "ConnectorPlatform",
                "ConnectorServices", "ConnectorTestSupport", "connector-host",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorKitTests",
            dependencies: [
                "CConnector", "ConnectorKit", "ConnectorManifest", "ConnectorServices", "ConnectorSimulator",
                "ConnectorTestSupport", "connector-manifest",
            ] + adapters.map { .target(name: $0) },
            swiftSettings: strict
        ),
        .testTarget(name: "IntegratorTests", dependencies: ["Integrator", "ConnectorOneShot"], swiftSettings: strict),
    ]
        + adapters.map {
            .target(
                name: $0,
                dependencies: ["ConnectorKit", "ConnectorManifest"],
                // Not the folder above, where the manifest is: an image put there would plan the build anew, and warn.
                path: "Plugins/\($0)/Sources",
                swiftSettings: strict,
                plugins: ["ConnectorManifestPlugin"]
            )
        }
)
