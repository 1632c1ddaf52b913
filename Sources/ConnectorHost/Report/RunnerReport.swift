// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorIsolation
internal import ConnectorPlatform

/// A process of isolated plugins at one moment.
public struct RunnerReport: Sendable, Hashable {
    /// The name: `runner` of its connectors in the file, or else the plugin's id.
    public var name: String
    /// The number of the process.
    public var process: Int64
    /// Its private memory, in bytes; nil if the system does not report it.
    public var memory: Int64?
    /// How often a runner of these connectors has ended and another was started.
    public var restarts: Int
    /// The paths of the connectors whose plugins run in it.
    public var connectors: [String]
    /// The paths of the connectors whose standbys wait in it.
    public var standbys: [String]

    /// Creates a report, for example in tests of code that reads one.
    public init(
        name: String,
        process: Int64,
        memory: Int64? = nil,
        restarts: Int = 0,
        connectors: [String] = [],
        standbys: [String] = []
    ) {
        self.name = name
        self.process = process
        self.memory = memory
        self.restarts = restarts
        self.connectors = connectors
        self.standbys = standbys
    }

    /// The memory in readable form: `4.7 MB`; a dash if it is not known.
    package var memoryText: String {
        memory?.megabytes ?? "–"
    }
}

extension RunnerReport {
    /// Describes a runner; the report must have its gates.
    init(_ runner: Runner, in report: Report) {
        // A gate is named once for each of its instances.
        var known: Set<String> = []
        let gates = runner.gates.filter { known.insert($0).inserted }
        let process = Int64(runner.processNumber)
        let standbys = gates.filter { report[$0]?.standby?.process == process }
        let connectors = gates.filter { !standbys.contains($0) }
        self.init(
            name: runner.name,
            process: process,
            memory: ProcessMemory.privateBytes(of: runner.processNumber),
            // The gates of a runner lose it together.
            restarts: connectors.compactMap { report[$0]?.crashCount }.max() ?? 0,
            connectors: connectors,
            standbys: standbys
        )
    }

    /// The runner's part of the document.
    var json: JSONValue {
        var object: JSONObject = [
            "name": .string(name),
            "process": .integer(process),
            "restarts": .integer(Int64(restarts)),
            "connectors": .array(connectors.map(JSONValue.string)),
        ]
        if !standbys.isEmpty { object["standbys"] = .array(standbys.map(JSONValue.string)) }
        object["memoryBytes"] = memory.map(JSONValue.integer)
        return .object(object)
    }

    /// Reads the document; nil if a member is missing.
    init?(json: JSONValue) {
        guard let name = json["name"]?.string, let process = json["process"]?.integer else { return nil }
        self.init(
            name: name,
            process: process,
            memory: json["memoryBytes"]?.integer,
            restarts: Int(clamping: json["restarts"]?.integer ?? 0),
            connectors: json["connectors"]?.array?.compactMap(\.string) ?? [],
            standbys: json["standbys"]?.array?.compactMap(\.string) ?? []
        )
    }
}
