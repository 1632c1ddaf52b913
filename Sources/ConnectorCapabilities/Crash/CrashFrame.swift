// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// One function call on a stack.
public struct CrashFrame: Sendable, Hashable {
    /// The function's name.
    public var function: String?
    /// The module or package of the function.
    public var module: String?
    /// The source file.
    public var file: String?
    /// The line, counted from 1.
    public var line: Int?
    /// The column, counted from 1.
    public var column: Int?
    /// The address of the instruction, as `0x…`.
    public var address: String?
    /// Whether the function belongs to the application.
    public var isInApplication: Bool

    /// Creates a frame.
    public init(
        function: String? = nil,
        module: String? = nil,
        file: String? = nil,
        line: Int? = nil,
        column: Int? = nil,
        address: String? = nil,
        isInApplication: Bool = true
    ) {
        self.function = function
        self.module = module
        self.file = file
        self.line = line
        self.column = column
        self.address = address
        self.isInApplication = isInApplication
    }

    /// Reads a frame.
    public init(json: JSONValue, path: String = "frame") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        self.init(
            function: try reader.string("function"),
            module: try reader.string("module"),
            file: try reader.string("file"),
            line: try reader.integer("line", within: 0...Int(Int32.max)),
            column: try reader.integer("column", within: 0...Int(Int32.max)),
            address: try reader.string("address"),
            isInApplication: try reader.bool("inApplication") ?? true
        )
        if function == nil, file == nil, module == nil, address == nil {
            throw ConnectorError(.invalid, "\(path) names no function, file, module or address")
        }
    }

    /// The JSON form that operations take.
    public var json: JSONValue {
        var object = JSONObject()
        object.set("function", function)
        object.set("module", module)
        object.set("file", file)
        object.set("line", line)
        object.set("column", column)
        object.set("address", address)
        if !isInApplication { object["inApplication"] = false }
        return .object(object)
    }
}
