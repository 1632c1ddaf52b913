// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorIsolation
internal import ConnectorLoading
public import ConnectorPlatform
public import ConnectorServices

extension ConnectorHost {
    /// Where the outbox stores events.
    public enum OutboxEngineKind: String, Sendable, Hashable, CaseIterable {
        /// A file in the directory `state` names in `connectors.json`, or in the user's state directory.
        case sqlite
        /// Process memory, lost on exit: for tests.
        case memory
    }

    /// Host settings that are not in the file; the defaults suit an application.
    public struct Options: Sendable {
        /// The variables that `${NAME}` and `{"secret": "env:NAME"}` read.
        public var environment: Configuration.Environment
        /// Directories searched for plugins after those of the file and `CONNECTOR_PLUGIN_PATH`.
        public var pluginDirectories: [String]
        /// The host's clock; tests inject one they control.
        public var clock: any HostClock
        /// Where `storage/1` keeps its files; nil chooses `$XDG_STATE_HOME/connector-host`, or
        /// `~/.local/state/connector-host`.
        public var stateDirectory: String?
        /// Connections, timeouts, proxies and trusted authorities of plugins' HTTP requests.
        public var http: HTTPOptions
        /// Where the outbox stores events.
        public var outbox: OutboxEngineKind = .sqlite
        /// The program `connector-runner`, for connectors whose plugins run in runners. Nil takes it from
        /// `CONNECTOR_RUNNER`, or else searches beside the executable, in `libexec` and in `PATH`.
        public var runner: String?
        /// The control group (version 2) below which runners with bounds get groups of their own. Nil takes it from
        /// `CONNECTOR_CGROUP`, or else uses the group above the host's, unless the host runs as root, or else the
        /// host's own group.
        public var controlGroup: String?
        /// The crash note of an earlier process: a connector with `"isolation": "auto"` opens in a runner if the note
        /// names its plugin.
        public var lastCrash: CrashNote?
        /// Whether this host delivers events from the outbox or only adds to it.
        package var delivers = true
        /// Whether ``ConnectorHost/run()`` waits for the gates to open and throws if a required one does not.
        ///
        /// If false, the service starts immediately and gates open concurrently. Failed gates heal, and other services
        /// can await ``ConnectorHost/ready()``, which a shutdown of their group ends.
        public var waitsForRequiredGates = true
        /// How long ``ConnectorHost/close()`` waits for vendors to answer batches in flight.
        public var closingGrace: Duration = .seconds(10)
        /// The time limits of the phases of a reload.
        public var reload = ReloadLimits()
        /// Whether the host applies changes of its files as they happen, as ``ConnectorHost/reload()`` does: of the
        /// configuration, the files it includes, its lock, its plugins and its secret files.
        ///
        /// The watch begins with ``ConnectorHost/open(timeout:)``.
        public var watchesFiles = false
        /// Creates the watch that reports changes in directories.
        package var makeDirectoryWatch: DirectoryWatch.Make = { onChange throws(SystemError) in
            try DirectoryWatch(onChange: onChange)
        }
        /// Whether failed gates are retried. False suits a command that opens once and prints the report; failures are
        /// then not logged as warnings.
        package var heals = true
        /// Receives what runners learn about the sandboxes that their plugins need. If it is not nil, every plugin that
        /// the application does not link runs in a runner that learns, whatever the configuration says.
        package var onSandboxLesson: SandboxLesson.Receiver?
        /// Where the process was when a host took the options, and where their relative paths start; nil before that, or if the directory
        /// was removed.
        private var workingDirectory: String?
        /// Draws a random wait between two attempts, between zero and its argument, in nanoseconds.
        package var jitter: @Sendable (UInt64) -> UInt64 = { bound in bound == 0 ? 0 : UInt64.random(in: 0...bound) }

        /// Defaults to the process's environment, the executable's directory and the system clock; nil for `http` reads
        /// its options from the environment.
        public init(
            environment: Configuration.Environment = .process,
            pluginDirectories: [String] = [Self.executableDirectory].compactMap(\.self),
            clock: any HostClock = SystemHostClock(),
            stateDirectory: String? = nil,
            http: HTTPOptions? = nil
        ) {
            self.environment = environment
            self.pluginDirectories = pluginDirectories
            self.clock = clock
            self.stateDirectory = stateDirectory
            self.http = http ?? HTTPOptions(environment: environment)
        }
    }
}

extension ConnectorHost.Options {
    /// Checks the paths of the options, as those of the file are checked when it is read, and the variables that are paths.
    ///
    /// - Throws: An `invalid-value` for each option that is no path, and an `unreadable` for each variable that is not UTF-8.
    package func checkPaths() throws(ConfigurationErrors) {
        let errors = pathProblems
        guard errors.isEmpty else { throw ConfigurationErrors(errors) }
    }

    /// What ``checkPaths()`` throws; empty for paths that a host can use.
    package var pathProblems: [ConnectorError] {
        let single = [("stateDirectory", stateDirectory), ("runner", runner), ("controlGroup", controlGroup)]
        let several = pluginDirectories.map { ("pluginDirectories", Optional($0)) }
        var errors: [ConnectorError] = []
        // The directory of a program in the root of the file system is an empty text.
        for case (let name, let path?) in single + several where !path.isEmpty {
            do throws(ConnectorError) {
                try path.checkPath("the option \(name)")
                _ = try path.requireLastingPath()
            } catch {
                errors.append(error)
            }
        }
        let variables = [
            Self.directoriesVariable, RunnerProgram.variable, ControlGroups.variable, PluginLoader.keepVariable,
            TemporaryDirectory.variable,
        ]
        for name in variables where environment.isDamaged(name) {
            errors.append(
                ConnectorError(
                    .unreadable,
                    "the environment variable \(name) is not UTF-8 text",
                    fix: "rename what it names, and set it again"
                )
            )
        }
        return errors
    }

    /// The options with absolute paths, for a host whose application may change its directory.
    var withLastingPaths: Self {
        guard workingDirectory == nil else { return self }
        var options = self
        let directory = ".".rootedPath.parentPath
        options.workingDirectory = directory.starts(ascii: "/") ? directory : nil
        let lasting = options.lastingPath
        options.pluginDirectories = pluginDirectories.map(lasting)
        options.stateDirectory = stateDirectory.map(lasting)
        options.runner = runner.map(lasting)
        options.controlGroup = controlGroup.map(lasting)
        options.http.mapFiles(lasting)
        return options
    }

    /// A path of the options or of a variable, from where the process was.
    private func lastingPath(_ path: String) -> String {
        guard let workingDirectory, !path.isEmpty else { return path }
        return GivenPath.rooted(path, in: workingDirectory)
    }

    /// The control group that the application or the environment names; nil for none.
    var namedControlGroup: String? { controlGroup ?? environment[ControlGroups.variable].map(lastingPath) }

    private static let directoriesVariable = "CONNECTOR_PLUGIN_PATH"

    /// The directories of plugins in `CONNECTOR_PLUGIN_PATH`; none if it is not UTF-8, since its text names others.
    var environmentDirectories: [String] {
        guard !environment.isDamaged(Self.directoriesVariable) else { return [] }
        return (environment[Self.directoriesVariable] ?? "").split(separator: ":").map { lastingPath(String($0)) }
    }

    /// The program that isolated plugins run in.
    ///
    /// - Parameter requiresTrust: Whether one that other users could change is refused: it runs with the host's rights until
    ///   it has confined itself.
    func runnerProgram(requiresTrust: Bool) throws(ConnectorError) -> RunnerProgram {
        let program = try RunnerProgram.find(
            path: runner,
            environment: { name in
                environment[name].map { name == RunnerProgram.variable ? lastingPath($0) : $0 }
            },
            directory: Self.executableDirectory
        )
        guard requiresTrust, let concern = FileTrust().concern(program.path) else { return program }
        throw ConnectorError(
            .denied,
            "the program \(program.path), which plugins run in, is not trusted: \(concern)",
            fix: "make this user or root own it and the directories that lead to it, and let no other user write them: "
                + "chmod go-w"
        )
    }

    /// The directory of the running executable, where bundled plugins are installed; nil if the system does not report
    /// it, or its path is not UTF-8.
    public static var executableDirectory: String? {
        #if os(Linux)
            let path = "/proc/self/exe".linkTarget.flatMap { String(validating: $0, as: UTF8.self) }
        #else
            let path = CommandLine.arguments.first
        #endif
        guard let path, let slash = path.lastIndex(of: "/") else { return nil }
        return String(path[..<slash])
    }
}
