// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Texts as C has them: pointers, with a null at their end. They live as long as this object.
@safe package final class CStrings {
    /// The texts, as exec(3) and posix_spawn(3) take them.
    package let arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    /// Copies texts.
    package convenience init(_ texts: [String]) {
        self.init(texts.map { Array($0.utf8) })
    }

    /// Copies texts that need not be UTF-8.
    init(_ texts: [[UInt8]]) {
        count = texts.count
        unsafe arguments = .allocate(capacity: texts.count + 1)
        unsafe arguments.initialize(repeating: nil, count: texts.count + 1)
        for (index, text) in texts.enumerated() {
            let characters = text.map { CChar(bitPattern: $0) } + [0]
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: characters.count)
            unsafe copy.initialize(from: characters, count: characters.count)
            unsafe arguments[index] = unsafe copy
        }
    }

    deinit {
        for index in 0..<count { unsafe arguments[index]?.deallocate() }
        unsafe arguments.deallocate()
    }

    /// The texts, for a function that promises to change none.
    package var pointers: UnsafePointer<UnsafePointer<CChar>?> {
        unsafe UnsafeRawPointer(arguments).assumingMemoryBound(to: UnsafePointer<CChar>?.self)
    }
}
