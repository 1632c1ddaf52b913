// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// `storage/1` of a test: values in memory, behind a disk that can be made to hang.
@safe
final class LineStorage: @unchecked Sendable {
    // Sendable: the table is made in `init` and never changes, everything else is behind the mutex.

    private struct State {
        var values: [String: [UInt8]] = [:]
        var isHanging = false
        var replacements = 0
    }

    private let state = Mutex(State())
    private let storage: UnsafeMutablePointer<connector_storage>

    /// - Parameter hasReplace: False for the table of a host that does not have `replace`.
    init(hasReplace: Bool = true) {
        unsafe storage = .allocate(capacity: 1)
        let whole = unsafe MemoryLayout<connector_storage>.size
        let size = unsafe hasReplace ? whole : MemoryLayout<connector_storage>.offset(of: \.replace) ?? whole
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe storage.initialize(
            to: connector_storage(
                struct_size: UInt32(size),
                flags: 0,
                context: context,
                get: { context, key, length, value, _ in
                    unsafe LineStorage.of(context).get(LineStorage.text(key, length), value)
                },
                set: { context, key, length, value, count, _ in
                    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: value, count: Int(count)))
                    return unsafe LineStorage.of(context).set(LineStorage.text(key, length), bytes)
                },
                remove: { context, key, length, _ in
                    unsafe LineStorage.of(context).set(LineStorage.text(key, length), nil)
                },
                list: { context, prefix, length, keys, _ in
                    unsafe LineStorage.of(context).list(LineStorage.text(prefix, length), keys)
                },
                replace: { context, key, length, expected, expectedCount, value, count, _ in
                    let old = unsafe expected.map {
                        unsafe [UInt8](UnsafeBufferPointer(start: $0, count: Int(expectedCount)))
                    }
                    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: value, count: Int(count)))
                    return unsafe LineStorage.of(context).replace(LineStorage.text(key, length), old, bytes)
                }
            )
        )
    }

    deinit { unsafe storage.deallocate() }

    /// What `service` answers.
    var pointer: UnsafeRawPointer { unsafe UnsafeRawPointer(storage) }

    /// How many values `replace` has written.
    var replacements: Int { state.withLock(\.replacements) }

    /// Lets every call wait from now on.
    func hang() { state.withLock { $0.isHanging = true } }

    /// Lets the calls that wait go on.
    func proceed() { state.withLock { $0.isHanging = false } }

    private func wait() {
        while state.withLock(\.isHanging) { _ = sched_yield() }
    }

    private func get(_ key: String, _ value: UnsafeMutablePointer<connector_bytes_owned>) -> Int32 {
        wait()
        guard let bytes = state.withLock({ $0.values[key] }) else { return Int32(CONNECTOR_NOT_FOUND) }
        unsafe Self.hand(bytes, to: value)
        return 0
    }

    private func set(_ key: String, _ value: [UInt8]?) -> Int32 {
        wait()
        let old = state.withLock { state in
            defer { state.values[key] = value }
            return state.values[key]
        }
        return value == nil && old == nil ? Int32(CONNECTOR_NOT_FOUND) : 0
    }

    private func replace(_ key: String, _ expected: [UInt8]?, _ value: [UInt8]) -> Int32 {
        wait()
        return state.withLock { state in
            guard state.values[key] == expected else { return Int32(CONNECTOR_CONFLICT) }
            state.values[key] = value
            state.replacements += 1
            return 0
        }
    }

    private func list(_ prefix: String, _ keys: UnsafeMutablePointer<connector_bytes_owned>) -> Int32 {
        wait()
        let names = state.withLock { $0.values.keys.filter { $0.hasPrefix(prefix) }.sorted() }
        unsafe Self.hand(Array("[\(names.map { "\"\($0)\"" }.joined(separator: ","))]".utf8), to: keys)
        return 0
    }

    private static func hand(_ bytes: [UInt8], to place: UnsafeMutablePointer<connector_bytes_owned>) {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, bytes.count))
        _ = unsafe copy.initialize(fromContentsOf: bytes)
        unsafe place.pointee.data = UnsafePointer(copy.baseAddress)
        unsafe place.pointee.length = UInt64(bytes.count)
        unsafe place.pointee.context = UnsafeMutableRawPointer(copy.baseAddress)
        unsafe place.pointee.release = { unsafe $0?.deallocate() }
    }

    private static func text(_ start: UnsafePointer<CChar>?, _ length: UInt64) -> String {
        unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }

    private static func of(_ context: UnsafeMutableRawPointer) -> LineStorage {
        unsafe Unmanaged<LineStorage>.fromOpaque(context).takeUnretainedValue()
    }
}
