// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorDigest

/// The checksums that a client sends with a body, in `Content-MD5` and `x-amz-checksum-…`.
enum S3Checksum {
    /// The names of the fields with checksums that the simulator checks, and answers with.
    static let names: Set = [
        "x-amz-checksum-crc32", "x-amz-checksum-crc32c", "x-amz-checksum-crc64nvme", "x-amz-checksum-sha256",
    ]

    /// The fields with checksums.
    static func values(of fields: HTTPFields) -> [HTTPField] {
        fields.filter { names.contains($0.name.lowercased()) }
    }

    /// Removes the fields with checksums, for an answer to a client that does not ask for them.
    static func remove(from fields: inout HTTPFields) {
        for field in values(of: fields) { fields.remove(field.name) }
    }

    /// Throws unless every checksum among the fields is that of a body.
    static func check(_ body: [UInt8], _ fields: HTTPFields) throws(S3Failure) {
        for field in fields {
            let name = field.name.lowercased()
            guard name == "content-md5" || name.starts(ascii: "x-amz-checksum-") else { continue }
            let found: [UInt8]
            switch name {
            case "content-md5": found = MD5.digest(of: body)
            case "x-amz-checksum-crc32": found = cyclic(body, UInt32(0xEDB8_8320))
            case "x-amz-checksum-crc32c": found = cyclic(body, UInt32(0x82F6_3B78))
            case "x-amz-checksum-crc64nvme": found = cyclic(body, UInt64(0x9A6C_9329_AC4B_C9B5))
            case "x-amz-checksum-sha256":
                var hash = SHA256()
                hash.update(body)
                found = hash.digest.bytes
            case "x-amz-checksum-algorithm", "x-amz-checksum-type", "x-amz-checksum-mode": continue
            default: throw .notImplemented(name)
            }
            guard field.value == Base64.encode(found) else {
                throw S3Failure(400, "BadDigest", "The \(field.name) you specified did not match what we received.")
            }
        }
    }

    /// The cyclic redundancy check for a reflected polynomial, most significant byte first.
    private static func cyclic<Word: FixedWidthInteger & UnsignedInteger>(_ body: [UInt8], _ polynomial: Word)
        -> [UInt8]
    {
        let table = (0..<256).map { byte in
            (0..<8).reduce(Word(byte)) { word, _ in word & 1 == 1 ? word >> 1 ^ polynomial : word >> 1 }
        }
        var (sum, index) = (Word.max, 0)
        while index < body.count {
            sum = sum >> 8 ^ table[Int(truncatingIfNeeded: sum & 0xFF) ^ Int(body[index])]
            index += 1
        }
        sum = ~sum
        return (0..<Word.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
    }
}
