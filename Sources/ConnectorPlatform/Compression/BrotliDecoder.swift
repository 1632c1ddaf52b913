// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Brotli (RFC 7932) by the system's libbrotlidec, which the first body opens; a build does not need it.
///
/// The types and functions are those of `brotli/decode.h`, which every version 1 of the library has.
@safe struct BrotliDecoder: Sendable {
    #if canImport(Glibc)
        private static let library = "libbrotlidec.so.1"
    #else
        private static let library = "libbrotlidec.1.dylib"
    #endif

    /// The library's functions; nil if it is not installed.
    static let installed = BrotliDecoder()

    private typealias Create =
        @convention(c) @Sendable (UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?) -> OpaquePointer?
    private typealias Decompress =
        @convention(c) @Sendable (
            OpaquePointer, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafePointer<UInt8>?>,
            UnsafeMutablePointer<Int>, UnsafeRawPointer?, UnsafeRawPointer?
        ) -> Int32
    private typealias Take =
        @convention(c) @Sendable (OpaquePointer, UnsafeMutablePointer<Int>) -> UnsafePointer<UInt8>?
    private typealias Destroy = @convention(c) @Sendable (OpaquePointer) -> Void

    /// Creates the state of a stream; nil without memory.
    private let create: Create
    /// Reads input, and keeps the output where it is given no room for it. Returns a `BrotliDecoderResult`.
    private let decompress: Decompress
    /// Hands over output that was kept, at most as many bytes as asked for.
    private let take: Take
    /// Frees the state of a stream.
    private let destroy: Destroy

    /// Opens the library, which stays open.
    private init?() {
        guard let library = unsafe dlopen(Self.library, RTLD_NOW | RTLD_LOCAL),
            let create = unsafe dlsym(library, "BrotliDecoderCreateInstance"),
            let decompress = unsafe dlsym(library, "BrotliDecoderDecompressStream"),
            let take = unsafe dlsym(library, "BrotliDecoderTakeOutput"),
            let destroy = unsafe dlsym(library, "BrotliDecoderDestroyInstance")
        else { return nil }
        unsafe self.create = unsafeBitCast(create, to: Create.self)
        unsafe self.decompress = unsafeBitCast(decompress, to: Decompress.self)
        unsafe self.take = unsafeBitCast(take, to: Take.self)
        unsafe self.destroy = unsafeBitCast(destroy, to: Destroy.self)
    }

    /// Decompresses the stream at the start of `bytes`.
    ///
    /// - Parameter limit: The most bytes of output.
    func run(_ bytes: [UInt8], limit: Int) throws(InflateError) -> [UInt8] {
        // BROTLI_DECODER_RESULT_SUCCESS, NEEDS_MORE_INPUT and NEEDS_MORE_OUTPUT of decode.h; 0 is an error.
        let (success, needsInput, needsRoom): (Int32, Int32, Int32) = (1, 2, 3)
        guard let state = unsafe create(nil, nil, nil) else { throw .corrupt }
        defer { unsafe destroy(state) }
        var output: [UInt8] = []
        var result = needsRoom
        unsafe bytes.withUnsafeBufferPointer { input in
            var next = input.baseAddress
            var (left, room) = (input.count, 0)
            repeat {
                result = unsafe decompress(state, &left, &next, &room, nil, nil)
                // One byte above the limit proves that the output is too large.
                var count = limit + 1 - output.count
                let piece = unsafe take(state, &count)
                unsafe output += UnsafeBufferPointer(start: piece, count: count)
            } while result == needsRoom && output.count <= limit
        }
        guard output.count <= limit else { throw .tooLarge }
        guard result == success else { throw result == needsInput ? .truncated : .corrupt }
        return output
    }
}
