// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The variables of a process, with the bytes that the system has, so that a child gets them unchanged.
package struct ProcessEnvironment: Sendable, Hashable {
    private var values: [SystemText: SystemText] = [:]

    /// Creates an environment without variables.
    package init() {}

    /// The variables of this process, as they are now.
    package static var current: ProcessEnvironment {
        var environment = ProcessEnvironment()
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let pair = unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
            if let sign = pair.firstIndex(of: UInt8(ascii: "=")) {
                environment.values[SystemText(Array(pair[..<sign]))] = SystemText(Array(pair[(sign + 1)...]))
            }
            unsafe entry += 1
        }
        return environment
    }

    /// The value of a variable; nil if it is not set.
    package subscript(name: String) -> SystemText? {
        get { values[SystemText(name)] }
        set { values[SystemText(name)] = newValue }
    }

    /// `NAME=VALUE` of each variable, by name.
    var entries: [[UInt8]] {
        values.map { $0.key.bytes + [UInt8(ascii: "=")] + $0.value.bytes }.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// The names, for people, of the variables that are set differently in another environment, in order.
    package func differences(from other: ProcessEnvironment) -> [String] {
        Set(values.keys).union(other.values.keys).filter { values[$0] != other.values[$0] }.map(\.shown).sorted()
    }
}
