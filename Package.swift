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
    "settings-file", "system-sensor", "sqlite", "poll", "folder", "etcd", "webdav", "s3", "opencage",
    "pushgateway", "victoriametrics", "clickhouse", "amplitude", "mixpanel", "ga4", "rollbar",
    "matomo", "postgrest", "datasette",
]

/// The sanitizer that the tests are built with: `address`, `thread`, or none. See Tests/Sanitizers.
let sanitizer = Context.environment["CONNECTOR_SANITIZER"]

/// The test targets that each sanitizer leaves out, and under nil those that both do. AddressSanitizer can see something where memory of
/// plugins, of C libraries and of files is read and written, ThreadSanitizer where threads meet, and neither in what works on values or
/// stands beside the host.
let plainTests: [String?: [String]] = [
    nil: [
        "ConnectorConsoleTests", "ConnectorControlTests", "ConnectorHTTPServerTests", "ConnectorHostCommandsTests",
        "ConnectorManifestTests", "ConnectorSimulatorTests", "IntegratorTests",
    ],
    "address": ["ConnectorOutboxTests"],
    "thread": ["ConnectorBaseTests", "ConnectorKitTests", "ConnectorPlatformTests"],
]

/// The same for folders of a target, and for what needs runners or images of adapters, which are not built for a sanitizer.
let plainFolders: [String?: [String: [String]]] = [
    nil: [
        "ConnectorHostTests": [
            "ABI", "Adapters", "Configuration", "Metrics", "Redaction", "Report", "Runners", "Services/Recording",
            "Tracing",
        ],
        "ConnectorKitTests": ["Adapters", "Generator", "Models"],
    ],
    "address": ["ConnectorHostTests": ["Clients", "Outbox", "Reload", "Tree", "Watch"]],
    "thread": ["ConnectorHostTests": ["Fuzzing", "Loading"]],
]

/// The adapters whose code is tested: with a sanitizer, only those that call system libraries.
let testedAdapters = sanitizer == nil ? adapters : ["folder", "sqlite", "system-sensor"]

/// What individual adapters need besides `ConnectorKit`.
let adapterDependencies: [String: [Target.Dependency]] = [
    "sqlite": ["CSQLite"],
    "webdav": ["ConnectorBase", "ConnectorDigest"],
    "s3": ["ConnectorDigest"],
    "folder": [
        "ConnectorDigest", .target(name: "CLinux", condition: .when(platforms: [.linux])),
    ],
]

/// What lies below the host, lowest first. Users import `ConnectorHost`, which re-exports their public declarations.
let layers: [Target.Dependency] = [
    "ConnectorPlatform", "ConnectorOutbox", "ConnectorLoading", "ConnectorInvocation", "ConnectorServices",
    "ConnectorConfiguration",
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
        .executable(name: "connector-runner", targets: ["connector-runner"]),
        .plugin(name: "ConnectorManifestPlugin", targets: ["ConnectorManifestPlugin"]),
    ] + adapters.map { .library(name: $0, type: .dynamic, targets: [$0]) },
    traits: [
        .default(enabledTraits: ["CommandLine"]),
        .trait(
            name: "CommandLine",
            description: "The command connector-host; the libraries do without.",
            enabledTraits: ["NATS"]
        ),
        .trait(name: "NATS", description: "The outbox in NATS JetStream; without it, events are kept in SQLite alone."),
        .trait(
            name: "WebConsole",
            description: "Changes nothing: the console in the browser needs no package of its own."
        ),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        // The HTTP client needs it anyway.
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        // The HTTP client needs it anyway.
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
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
        // Functions of the C library that its own module leaves out.
        .systemLibrary(name: "CLinux"),
        // Opens the NATS client at run time, if the configuration asks for it.
        .target(name: "CNATS"),
        // The system calls of a host and its runners, in C where they need macros.
        .target(name: "CRunner"),
        // What a signal handler does, in C.
        .target(name: "CFatalSignal"),
        // The system call filter, Landlock, namespaces: what has an interface only in C.
        .target(name: "CSandbox"),
        // The lowest: JSON, errors, time, URLs, and a value that arrives once. Plugins are linked with it, so it depends on nothing.
        .target(name: "ConnectorBase", swiftSettings: strict),
        // Digests of bytes, for the host and for plugins, and signatures.
        .target(
            name: "ConnectorDigest",
            dependencies: ["ConnectorBase", .target(name: "CSodium", condition: .when(platforms: [.linux]))],
            swiftSettings: strict
        ),
        .target(name: "ConnectorCapabilities", dependencies: ["ConnectorBase"], swiftSettings: strict),
        .target(
            name: "ConnectorManifest",
            dependencies: ["ConnectorBase", "ConnectorCapabilities"],
            swiftSettings: strict
        ),
        // The layers of the host: each depends only on those before it.
        .target(
            name: "ConnectorPlatform",
            dependencies: [
                "CFatalSignal", "CSandbox", "CZlib", "ConnectorBase",
                .target(name: "CLinux", condition: .when(platforms: [.linux])),
                deque,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorOutbox",
            dependencies: ["ConnectorBase", "ConnectorCapabilities", "ConnectorPlatform"],
            swiftSettings: strict
        ),
        // The engines of the outbox: only the host knows them.
        .target(
            name: "ConnectorOutboxSQLite",
            dependencies: ["CSQLite", "ConnectorBase", "ConnectorOutbox", "ConnectorPlatform", deque],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorOutboxNATS",
            dependencies: ["CNATS", "ConnectorBase", "ConnectorOutbox", "ConnectorPlatform"],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorLoading",
            dependencies: [
                "CConnector", "ConnectorDigest", "ConnectorManifest", "ConnectorPlatform",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorInvocation",
            dependencies: [
                "CConnector", "CFFI", "ConnectorBase", "ConnectorManifest", "ConnectorPlatform", "ConnectorLoading",
                deque,
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict
        ),
        // Instances in other processes: messages, their transport, the processes, and the channel to an instance in one.
        .target(
            name: "ConnectorIsolation",
            dependencies: [
                "CConnector", "CRunner", "ConnectorBase", "ConnectorManifest", "ConnectorPlatform", "ConnectorLoading",
                "ConnectorInvocation", deque,
            ],
            swiftSettings: strict
        ),
        // The other side: the program that a host starts for them.
        .executableTarget(
            name: "connector-runner",
            dependencies: [
                "CConnector", "CRunner", "ConnectorBase", "ConnectorManifest", "ConnectorPlatform", "ConnectorLoading",
                "ConnectorInvocation", "ConnectorIsolation",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorServices",
            dependencies: [
                "CConnector", "CZlib", "ConnectorBase", "ConnectorDigest", "ConnectorManifest", "ConnectorPlatform",
                "ConnectorLoading", "ConnectorInvocation",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                deque,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict
        ),
        // The file connectors.json: its values, its faults, and what it means with the plugins that are installed.
        .target(
            name: "ConnectorConfiguration",
            dependencies: [
                "ConnectorBase", "ConnectorDigest", "ConnectorManifest", "ConnectorOutbox", "ConnectorPlatform",
                "ConnectorServices",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorHost",
            dependencies: layers + [
                "ConnectorBase", "ConnectorDigest", "ConnectorIsolation", "ConnectorManifest", "ConnectorOutboxSQLite",
                .target(name: "ConnectorOutboxNATS", condition: .when(traits: ["NATS"])),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        // The one HTTP server, for the API, the console in the browser and the simulators; and a client of it.
        .target(
            name: "ConnectorHTTPServer",
            dependencies: [
                "ConnectorBase", "ConnectorPlatform",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        // A host's API on a Unix socket, for programs that offer one.
        .target(
            name: "ConnectorControl",
            dependencies: [
                "ConnectorPlatform", "ConnectorOutbox", "ConnectorLoading", "ConnectorInvocation", "ConnectorServices",
                "ConnectorHost", "ConnectorHTTPServer", "ConnectorManifest",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorKit",
            dependencies: ["CConnector", "ConnectorBase", "ConnectorManifest"],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorSimulator",
            dependencies: [
                "ConnectorBase", "ConnectorDigest", "ConnectorHTTPServer", "ConnectorInvocation", "ConnectorManifest",
                "ConnectorPlatform",
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorHostTesting",
            dependencies: layers + [
                "CConnector", "ConnectorConsole", "ConnectorHost", "ConnectorBase", "ConnectorDigest",
                "ConnectorManifest", "ConnectorSimulator",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .target(name: "Integrator", dependencies: ["ConnectorBase"], swiftSettings: strict),
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
                "ConnectorConsole", "ConnectorControl", "ConnectorHost", "ConnectorHTTPServer", "ConnectorManifest",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [
                .embedInCode("Assets/console.css"), .embedInCode("Assets/console.js"), .embedInCode("Assets/icon.svg"),
            ],
            swiftSettings: strict
        ),
        // Projects for authors of plugins, made and updated for newer hosts.
        .target(
            name: "ConnectorScaffold",
            dependencies: [
                "ConnectorBase", "ConnectorCapabilities", "ConnectorDigest", "ConnectorManifest", "ConnectorPlatform",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ConnectorHostCommands",
            dependencies: layers + [
                "ConnectorScaffold", "ConnectorConsole", "ConnectorConsoleTerminal", "ConnectorConsoleWeb",
                "ConnectorControl",
                "ConnectorHost", "ConnectorHostTesting",
                "ConnectorManifest", "ConnectorSimulator",
                .product(
                    name: "ArgumentParser",
                    package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLine"])
                ),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "connector-host",
            // SwiftPM may build the program for a package that needs only a library; it then has no commands.
            dependencies: [.target(name: "ConnectorHostCommands", condition: .when(traits: ["CommandLine"]))],
            swiftSettings: strict
        ),
        .executableTarget(name: "connector-manifest", dependencies: ["ConnectorManifest"], swiftSettings: strict),
        .target(
            name: "CBenchmark",
            dependencies: ["CConnector", "CFFI"],
            path: "Benchmarks/Sources/CBenchmark"
        ),
        .executableTarget(
            name: "connector-bench",
            dependencies: layers + [
                "ConnectorConsole", "ConnectorConsoleWeb", "ConnectorHost", "ConnectorBase", "ConnectorManifest",
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
            dependencies: [
                "ConnectorBase", "ConnectorManifest", "ConnectorOutbox", "ConnectorOutboxNATS", "ConnectorPlatform",
            ],
            path: "Tests/ConnectorTestSupport",
            swiftSettings: strict
        ),
        // A Swift process at work in a sandbox.
        .executableTarget(
            name: "sandboxed-load",
            dependencies: ["ConnectorPlatform"],
            path: "Tests/SandboxedLoad",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorPlatformTests",
            dependencies: [
                "CRunner", "CSandbox", "ConnectorManifest", "ConnectorPlatform", "ConnectorTestSupport",
                "sandboxed-load",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorBaseTests",
            dependencies: ["ConnectorBase", "ConnectorCapabilities", "ConnectorDigest", "ConnectorTestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorManifestTests",
            dependencies: ["ConnectorBase", "ConnectorCapabilities", "ConnectorManifest", "ConnectorTestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorControlTests",
            dependencies: [
                "ConnectorControl", "ConnectorHost", "ConnectorHostTesting", "ConnectorHTTPServer", "ConnectorManifest",
                "ConnectorServices", "ConnectorTestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorHTTPServerTests",
            dependencies: [
                "ConnectorHTTPServer", "ConnectorManifest", "ConnectorTestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorOutboxTests",
            dependencies: [
                "ConnectorOutbox", "ConnectorOutboxNATS", "ConnectorOutboxSQLite", "ConnectorBase", "ConnectorManifest",
                "ConnectorPlatform", "ConnectorTestSupport",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorHostTests",
            dependencies: layers + [
                "ConnectorHost", "ConnectorIsolation", "ConnectorManifest", "connector-runner",
                "ConnectorHostTesting", "ConnectorBase", "ConnectorDigest",
                "ConnectorKit", "ConnectorOutboxNATS", "ConnectorSimulator", "ConnectorTestSupport", "CConnector",
                // An adapter that the tests link, besides its image.
                "settings-file",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
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
                "ConnectorHostTesting", "ConnectorHTTPServer", "ConnectorManifest", "ConnectorTestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorSimulatorTests",
            dependencies: [
                "ConnectorBase", "ConnectorHTTPServer", "ConnectorInvocation", "ConnectorPlatform",
                "ConnectorSimulator", "ConnectorManifest", "ConnectorTestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorHostCommandsTests",
            dependencies: [
                "ConnectorHostCommands", "ConnectorControl", "ConnectorHost", "ConnectorManifest", "ConnectorOutbox",
                "ConnectorPlatform", "ConnectorScaffold", "ConnectorServices", "ConnectorHostTesting",
                "ConnectorTestSupport",
                "connector-host",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectorKitTests",
            dependencies: [
                "CConnector", "ConnectorDigest", "ConnectorKit", "ConnectorManifest", "ConnectorServices",
                "ConnectorSimulator", "ConnectorTestSupport", "connector-manifest",
            ] + testedAdapters.map { .target(name: $0) },
            swiftSettings: strict
        ),
        .testTarget(name: "IntegratorTests", dependencies: ["Integrator", "ConnectorBase"], swiftSettings: strict),
    ]
        + adapters.map {
            .target(
                name: $0,
                dependencies: ["ConnectorKit", "ConnectorManifest"] + (adapterDependencies[$0] ?? []),
                // Not the folder above, where the manifest is: an image put there would replan the build, and warn.
                path: "Plugins/\($0)/Sources",
                swiftSettings: strict,
                plugins: ["ConnectorManifestPlugin"]
            )
        }
)

if let sanitizer {
    let plain = Set([nil, sanitizer].flatMap { plainTests[$0] ?? [] })
    package.targets.removeAll { plain.contains($0.name) }
    for target in package.targets where target.type != .system && target.type != .plugin {
        target.exclude += [nil, sanitizer].flatMap { plainFolders[$0]?[target.name] ?? [] }
        // Not by the package manager's own option, which would compile each dependency once more for each sanitizer: dependencies hand
        // out no memory of plugins, and their locks are the system's, which sanitizers see. Nobody edits between two of these builds, so
        // each module is compiled as a whole, which takes a tenth less time. Not those of the tests: with thousands of macros in one job,
        // the compiler spends as much on finding their places.
        let whole = ["-whole-module-optimization", "-no-emit-module-separately-wmo", "-num-threads", "2"]
        target.swiftSettings =
            (target.swiftSettings ?? [])
            + [.unsafeFlags(["-sanitize=\(sanitizer)"] + (target.type == .test ? [] : whole))]
        target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-fsanitize=\(sanitizer)"])]
        let linker = "\(Context.packageDirectory)/Tests/Sanitizers/own-first"
        target.linkerSettings =
            (target.linkerSettings ?? [])
            + [.unsafeFlags(["-sanitize=\(sanitizer)", "-Xclang-linker", "--ld-path=\(linker)"])]
    }
}
