// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Lists of texts as C has them, each with a null at its end.
@safe final class CStrings {
    /// The lists, in order.
    let lists: [UnsafePointer<UnsafePointer<CChar>?>]
    private let texts: [UnsafeMutablePointer<CChar>]
    private let pointers: [UnsafeMutablePointer<UnsafePointer<CChar>?>]

    init(_ lists: [[String]]) {
        var texts: [UnsafeMutablePointer<CChar>] = unsafe []
        var pointers: [UnsafeMutablePointer<UnsafePointer<CChar>?>] = unsafe []
        for list in lists {
            let pointer = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: list.count + 1)
            unsafe pointer.initialize(repeating: nil, count: list.count + 1)
            for (index, text) in list.enumerated() {
                let bytes = Array(text.utf8CString)
                let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
                unsafe copy.initialize(from: bytes, count: bytes.count)
                unsafe texts.append(copy)
                unsafe pointer[index] = unsafe UnsafePointer(copy)
            }
            unsafe pointers.append(pointer)
        }
        unsafe self.texts = unsafe texts
        unsafe self.pointers = unsafe pointers
        unsafe self.lists = unsafe pointers.map { unsafe UnsafePointer($0) }
    }

    deinit {
        unsafe texts.forEach { unsafe $0.deallocate() }
        unsafe pointers.forEach { unsafe $0.deallocate() }
    }
}
