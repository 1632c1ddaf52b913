// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Texts as C has them: pointers, with a null at their end. They live as long as this value.
@safe package final class CStrings {
    /// The texts.
    package let pointers: UnsafePointer<UnsafePointer<CChar>?>
    private let memory: UnsafeMutablePointer<UnsafePointer<CChar>?>
    private let count: Int

    /// Copies texts.
    package init(_ texts: [String]) {
        count = texts.count
        unsafe memory = .allocate(capacity: texts.count + 1)
        unsafe memory.initialize(repeating: nil, count: texts.count + 1)
        for (index, text) in texts.enumerated() {
            let bytes = Array(text.utf8CString)
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
            unsafe copy.initialize(from: bytes, count: bytes.count)
            unsafe memory[index] = unsafe UnsafePointer(copy)
        }
        unsafe pointers = unsafe UnsafePointer(memory)
    }

    deinit {
        for index in 0..<count { unsafe memory[index]?.deallocate() }
        unsafe memory.deallocate()
    }
}
