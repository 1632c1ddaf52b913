// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension SandboxSettings {
    /// The settings as arguments of a program, since it must know them before anything else.
    public var arguments: [String] {
        var arguments = ["--sandbox=\(level.rawValue)"]
        arguments += read.map { "--read=\($0)" }
        arguments += write.map { "--write=\($0)" }
        arguments += writtenByOthers.map { "--others-write=\($0)" }
        if network { arguments.append("--network=true") }
        if let memory { arguments.append("--memory=\(memory)") }
        if let cpu { arguments.append("--cpu=\(cpu)") }
        if let threads { arguments.append("--threads=\(threads)") }
        return arguments
    }

    /// Parses the settings in a program's arguments; nil if one is unknown or malformed.
    public init?(arguments: some Sequence<String>) {
        self.init(arguments: Array(arguments))
    }

    /// Parses the settings in an array, as a runner does at its start: for any other sequence, types would be set up first.
    package init?(arguments: [String]) {
        self.init()
        for argument in arguments {
            guard let end = argument.firstIndex(of: "=") else { return nil }
            let value = String(argument[argument.index(after: end)...])
            guard set(argument[..<end], value) else { return nil }
        }
    }

    private mutating func set(_ name: Substring, _ value: String) -> Bool {
        switch name {
        case "--sandbox":
            guard let level = Level(rawValue: value) else { return false }
            self.level = level
        case "--read": read.append(value)
        case "--write": write.append(value)
        case "--others-write": writtenByOthers.append(value)
        case "--network": network = value == "true"
        case "--memory":
            memory = Int(value)
            return memory != nil
        case "--cpu":
            cpu = Double(value)
            return cpu != nil
        case "--threads":
            threads = Int(value)
            return threads != nil
        default: return false
        }
        return true
    }
}
