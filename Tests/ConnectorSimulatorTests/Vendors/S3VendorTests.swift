// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorManifest
import Testing

@testable import ConnectorSimulator

/// What S3 answers to requests whose signature is valid.
@Suite struct S3VendorTests {
    /// The answer to a request, which changes the bucket.
    private func send(
        _ method: String,
        _ query: String = "",
        key: String = "",
        headers: HTTPFields = [:],
        body: String = "",
        in bucket: inout S3Bucket
    ) -> HTTPResponse {
        var call = S3Method(
            SimulatedRequest(method, "/b?\(query)", headers: headers, body: Array(body.utf8), receivedAt: noon),
            bucket: "b",
            key: key,
            in: ["b": bucket]
        )
        defer { bucket = call.buckets["b"] ?? bucket }
        do throws(S3Failure) { return try call.respond() } catch { return error.response }
    }

    private func bucket(_ keys: [String]) -> S3Bucket {
        var bucket = S3Bucket()
        for key in keys { _ = send("PUT", key: key, in: &bucket) }
        return bucket
    }

    private func keys(_ page: XMLElement) -> [String] { page.all("Contents").compactMap { $0["Key"]?.text } }

    @Test(arguments: [("list-type=2&continuation-token", "NextContinuationToken"), ("marker", "NextMarker")])
    func `a list of more than a page continues where the last one ended`(_ parameter: String, _ element: String) throws
    {
        var bucket = bucket((1000...2000).map { "key/\($0)" })
        let type = parameter.hasPrefix("list-type") ? "list-type=2" : ""
        let first = try XMLElement(parsing: send("GET", type, in: &bucket).body)
        #expect(first["IsTruncated"]?.text == "true" && keys(first).count == 1000)
        let next = PercentCoding.encode(try #require(first[element]?.text))
        let second = try XMLElement(parsing: send("GET", "\(parameter)=\(next)", in: &bucket).body)
        #expect(second["IsTruncated"]?.text == "false" && keys(second) == ["key/2000"])
        #expect(second[element] == nil)
    }

    @Test(arguments: [
        ("HEAD", "", 200), ("GET", "max-keys=0", 200), ("GET", "list-type=2&continuation-token=!", 400),
        ("GET", "location", 200), ("GET", "versioning", 200), ("GET", "versions", 501), ("GET", "acl", 501),
        ("PUT", "policy", 501), ("POST", "", 405), ("GET", "list-type=3", 501), ("DELETE", "", 409), ("PUT", "", 409),
    ])
    func `a bucket is listed, and what the simulator does not implement is refused as such`(
        _ method: String,
        _ query: String,
        _ status: Int
    ) {
        var bucket = bucket(["a/b"])
        let answer = send(method, query, in: &bucket)
        #expect(answer.status == status)
        #expect(answer.text.contains("<Code>NotImplemented</Code>") == (status == 501))
    }

    @Test(arguments: [
        ("/b", "b", ""), ("/b/", "b", ""), ("/b/d/", "b", "d/"), ("/b/a//b", "b", "a//b"), ("/b//a", "b", "/a"),
        ("/b/%C3%A9%2F/", "b", "é//"), ("/", "", ""),
    ])
    func `a key is the rest of the path, unchanged`(_ path: String, _ bucket: String, _ key: String) {
        #expect(S3Vendor.place(path, ofBucket: nil) == (bucket, key))
        #expect(S3Vendor.place("/\(key)", ofBucket: "b") == ("b", key))
    }

    @Test func `keys with a delimiter after the prefix are listed as one, on one page only`() throws {
        var bucket = bucket(["a", "d/1", "d/2", "d/e/3", "f/4", "z"])
        func list(_ query: String) throws -> XMLElement {
            try XMLElement(parsing: send("GET", query, in: &bucket).body)
        }
        func prefixes(_ page: XMLElement) -> [String] { page.all("CommonPrefixes").compactMap { $0["Prefix"]?.text } }
        let all = try list("list-type=2&delimiter=/")
        #expect(keys(all) == ["a", "z"] && prefixes(all) == ["d/", "f/"] && all["KeyCount"]?.text == "4")
        let below = try list("list-type=2&delimiter=/&prefix=d/")
        #expect(keys(below) == ["d/1", "d/2"] && prefixes(below) == ["d/e/"])
        for (parameter, element) in [
            ("list-type=2&continuation-token", "NextContinuationToken"), ("marker", "NextMarker"),
        ] {
            let type = parameter.hasPrefix("list-type") ? "list-type=2&" : ""
            let first = try list("\(type)delimiter=/&max-keys=2")
            #expect(keys(first) == ["a"] && prefixes(first) == ["d/"])
            let next = PercentCoding.encode(try #require(first[element]?.text))
            let second = try list("\(parameter)=\(next)&delimiter=/")
            #expect(keys(second) == ["z"] && prefixes(second) == ["f/"])
        }
    }

    @Test func `a list encodes its keys for clients that ask for it`() throws {
        var bucket = bucket(["d/a b+\u{1}"])
        let page = try XMLElement(parsing: send("GET", "list-type=2&encoding-type=url&prefix=d/a%20", in: &bucket).body)
        #expect(keys(page) == ["d/a%20b%2B%01"] && page["Prefix"]?.text == "d/a%20")
        #expect(page["EncodingType"]?.text == "url")
        #expect(send("GET", "encoding-type=base64", in: &bucket).status == 400)
    }

    @Test func `buckets are made, listed and removed once they are empty`() throws {
        var buckets: [String: S3Bucket] = [:]
        func send(_ method: String, _ bucket: String, key: String = "") -> HTTPResponse {
            let request = SimulatedRequest(method, "/", receivedAt: noon)
            var call = S3Method(request, bucket: bucket, key: key, in: buckets)
            defer { buckets = call.buckets }
            do throws(S3Failure) { return try call.respond() } catch { return error.response }
        }
        #expect(send("GET", "made").status == 404 && send("PUT", "made", key: "a").status == 404)
        #expect(send("PUT", "made").status == 200 && send("PUT", "Made").status == 400)
        #expect(send("PUT", "made").text.contains("BucketAlreadyOwnedByYou"))
        let list = try XMLElement(parsing: send("GET", "").body)
        #expect(
            list.name == "ListAllMyBucketsResult" && list["Buckets"]?.all("Bucket").map { $0["Name"]?.text } == ["made"]
        )
        #expect(send("PUT", "made", key: "a").status == 200 && send("DELETE", "made").status == 409)
        #expect(send("DELETE", "made", key: "a").status == 204 && send("DELETE", "made").status == 204)
        #expect(buckets.isEmpty)
    }

    // MARK: Objects

    @Test(arguments: [
        ("PUT", "acl"), ("PUT", "tagging"), ("DELETE", "tagging"), ("GET", "tagging"), ("GET", "attributes"),
        ("PUT", "retention"), ("GET", "versionId=1"), ("DELETE", "versionId=1"), ("GET", "partNumber=1"),
        ("POST", "restore"), ("POST", "select&select-type=2"), ("GET", "torrent"),
    ])
    func `a request about something else of an object is refused, and leaves the object alone`(
        _ method: String,
        _ query: String
    ) {
        var bucket = S3Bucket()
        _ = send("PUT", key: "k", body: "content", in: &bucket)
        let answer = send(method, query, key: "k", body: "<Tagging/>", in: &bucket)
        #expect(answer.status == 501 && answer.text.contains("<Code>NotImplemented</Code>"))
        #expect(send("GET", "x-id=GetObject&versionId=null", key: "k", in: &bucket).text == "content")
    }

    @Test(arguments: [
        ("x-amz-server-side-encryption", "AES256", 501), ("x-amz-tagging", "a=b", 501),
        ("x-amz-object-lock-mode", "GOVERNANCE", 501), ("x-amz-storage-class", "GLACIER", 501),
        ("x-amz-storage-class", "STANDARD", 200), ("x-amz-acl", "public-read", 400), ("x-amz-acl", "private", 200),
        ("If-None-Match", "\"1a\"", 501), ("x-amz-checksum-sha1", "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=", 501),
        ("Content-MD5", "kAFQmDzST7DWlj99KOF/cg==", 200), ("Content-MD5", "kAFQmDzST7DWlj99KOF/cQ==", 400),
        ("x-amz-checksum-crc32", "NSRBwg==", 200), ("x-amz-checksum-crc32", "NSRBww==", 400),
        ("x-amz-checksum-crc32c", "Nks/tw==", 200),
        ("x-amz-checksum-crc64nvme", "BeXKuz/B+us=", 200),
        ("x-amz-checksum-sha256", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", 200),
    ])
    func `a put whose header asks for more than the simulator does, or does not fit the body, is refused`(
        _ name: String,
        _ value: String,
        _ status: Int
    ) {
        var bucket = S3Bucket()
        #expect(
            send("PUT", key: "k", headers: HTTPFields([HTTPField(name: name, value: value)]), body: "abc", in: &bucket)
                .status == status
        )
        #expect(bucket.objects.isEmpty == (status != 200))
    }

    @Test func `a put is answered with its checksums, and a get that asks for them with those of the whole object`() {
        var bucket = S3Bucket()
        let name = "x-amz-checksum-crc32"
        let put = send("PUT", key: "k", headers: [name: "NSRBwg=="], body: "abc", in: &bucket)
        #expect(put.headers[name] == "NSRBwg==" && put.headers["ETag"] != nil)
        for (fields, expected) in [
            (["x-amz-checksum-mode": "ENABLED"], "NSRBwg=="), ([:], nil),
            (["x-amz-checksum-mode": "ENABLED", "Range": "bytes=1-"], nil),
        ] as [(HTTPFields, String?)] {
            #expect(send("GET", key: "k", headers: fields, in: &bucket).headers[name] == expected)
        }
    }

    @Test func `parts out of order are refused as such, whatever their sizes`() throws {
        var bucket = S3Bucket()
        let begun = try XMLElement(parsing: send("POST", "uploads", key: "k", in: &bucket).body)
        let id = try #require(begun["UploadId"]?.text)
        let tags = (1...2).map { number in
            send("PUT", "partNumber=\(number)&uploadId=\(id)", key: "k", body: "a", in: &bucket).headers["ETag"] ?? ""
        }
        func complete(_ numbers: [Int]) -> String {
            let parts = numbers.map {
                "<Part><PartNumber>\($0)</PartNumber><ETag>\(XMLElement.escaped(tags[$0 - 1]))</ETag></Part>"
            }
            let body = "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
            return send("POST", "uploadId=\(id)", key: "k", body: body, in: &bucket).text
        }
        #expect(complete([2, 1]).contains("<Code>InvalidPartOrder</Code>"))
        #expect(complete([1, 1]).contains("<Code>InvalidPartOrder</Code>"))
        #expect(complete([1, 2]).contains("<Code>EntityTooSmall</Code>"))
    }

    @Test func `an upload of a form is not implemented, whoever signed its policy`() {
        let headers: HTTPFields = ["Content-Type": "multipart/form-data; boundary=x"]
        let answer = S3Vendor.demo().respond(to: SimulatedRequest("POST", "/demo", headers: headers, receivedAt: noon))
        #expect(answer.status == 501 && answer.text.contains("<Code>NotImplemented</Code>"))
    }

    @Test func `an entity tag is the MD5 digest of the content`() {
        var bucket = S3Bucket()
        for (content, digest) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            (String(repeating: "a", count: 55), "ef1772b6dff9a122358552954ad0df65"),
            (String(repeating: "a", count: 56), "3b0c8ac703f828b04c6c197006d17218"),
            (String(repeating: "a", count: 64), "014842d480b571495a4a0363793f7367"),
        ] {
            let answer = send("PUT", key: "k", body: content, in: &bucket)
            #expect(answer.headers["ETag"] == "\"\(digest)\"")
        }
    }

    @Test func `an object keeps the fields of its put, and an answer may have others`() {
        var bucket = S3Bucket()
        let fields: HTTPFields = [
            "Content-Type": "text/plain", "Cache-Control": "no-cache", "Content-Disposition": "attachment",
            "Content-Language": "de", "Content-Encoding": "aws-chunked,gzip", "Expires": noon.httpDate,
            "x-amz-meta-k": "v",
        ]
        _ = send("PUT", key: "k", headers: fields, in: &bucket)
        let answer = send("GET", "response-content-type=a/b", key: "k", in: &bucket)
        #expect(answer.headers["Content-Type"] == "a/b" && answer.headers["Content-Encoding"] == "gzip")
        for name in ["Cache-Control", "Content-Disposition", "Content-Language", "Expires", "x-amz-meta-k"] {
            #expect(answer.headers[name] == fields[name])
        }
        #expect(send("PUT", "response-content-type=a/b", key: "k", in: &bucket).status == 501)
    }

    @Test(arguments: [
        ("If-None-Match", "\"900150983cd24fb0d6963f7d28e17f72\"", 304), ("If-None-Match", "\"1a\"", 200),
        ("If-None-Match", "W/\"900150983cd24fb0d6963f7d28e17f72\"", 304), ("If-None-Match", "*", 304),
        ("If-Match", "900150983cd24fb0d6963f7d28e17f72", 200), ("If-Match", "\"1a\"", 412),
        ("If-Match", "W/\"900150983cd24fb0d6963f7d28e17f72\"", 412),
        ("If-Modified-Since", "Fri, 02 Jan 2026 12:00:00 GMT", 304),
        ("If-Modified-Since", "Fri, 02 Jan 2026 11:59:59 GMT", 200),
        ("If-Unmodified-Since", "Fri, 02 Jan 2026 12:00:00 GMT", 200),
        ("If-Unmodified-Since", "Fri, 02 Jan 2026 11:59:59 GMT", 412), ("Range", "bytes=1-", 206),
        ("Range", "bytes=-2", 206), ("Range", "bytes=-9", 206), ("Range", "bytes=-0", 416), ("Range", "bytes=3-", 416),
        ("Range", "bytes=0-0,2-2", 200), ("Range", "bytes=99999999999999999999-", 416), ("Range", "bytes=-", 200),
    ])
    func `an object is read under conditions and in part`(_ name: String, _ value: String, _ status: Int) {
        var bucket = S3Bucket()
        _ = send("PUT", key: "k", body: "abc", in: &bucket)
        for method in ["GET", "HEAD"] {
            let answer = send(method, key: "k", headers: HTTPFields([HTTPField(name: name, value: value)]), in: &bucket)
            #expect(answer.status == status)
            let bodies = [200: "abc", 206: value == "bytes=-9" ? "abc" : "bc", 304: ""]
            if let body = bodies[status] { #expect(answer.text == body) }
        }
    }

    @Test func `an object's own metadata has at most 2 KB`() {
        var bucket = S3Bucket()
        for (count, status) in [(2047, 200), (2048, 400)] {
            let fields: HTTPFields = ["x-amz-meta-k": String(repeating: "v", count: count)]
            let answer = send("PUT", key: "k", headers: fields, in: &bucket)
            #expect(answer.status == status && (status == 200 || answer.text.contains("MetadataTooLarge")))
        }
    }

    @Test func `a copy has the metadata of its source, unless they are replaced`() throws {
        var bucket = S3Bucket()
        _ = send("PUT", key: "k", headers: ["x-amz-meta-x": "y"], body: "abc", in: &bucket)
        let source: HTTPFields = ["x-amz-copy-source": "/b/k"]
        let replacing: HTTPFields = [
            "x-amz-copy-source": "b/k?versionId=null", "x-amz-metadata-directive": "REPLACE", "x-amz-meta-k": "v",
        ]
        #expect(send("PUT", key: "c", headers: source, in: &bucket).status == 200)
        #expect(send("GET", key: "c", in: &bucket).headers["x-amz-meta-x"] == "y")
        #expect(send("PUT", key: "k", headers: source, in: &bucket).status == 400)
        #expect(send("PUT", key: "k", headers: replacing, in: &bucket).status == 200)
        let answer = send("GET", key: "k", in: &bucket)
        #expect(answer.headers["x-amz-meta-x"] == nil && answer.headers["x-amz-meta-k"] == "v" && answer.text == "abc")
        let changed: HTTPFields = ["x-amz-copy-source": "b/k", "x-amz-copy-source-if-match": "\"1a\""]
        #expect(
            send("PUT", key: "d", headers: changed, in: &bucket).status == 412 && bucket.objects[ExactText("d")] == nil
        )
    }

    @Test func `several objects are removed with one request, which must have a digest`() throws {
        var bucket = bucket(["a", "b", "c"])
        let body = "<Delete><Object><Key>a</Key></Object><Object><Key>b</Key><VersionId>1</VersionId></Object></Delete>"
        #expect(send("POST", "delete", body: body, in: &bucket).status == 400 && bucket.objects.count == 3)
        let digest = Base64.encode(MD5.digest(of: Array(body.utf8)))
        let answer = send("POST", "delete", headers: ["Content-MD5": digest], body: body, in: &bucket)
        let result = try XMLElement(parsing: answer.body)
        #expect(result.all("Deleted").map { $0["Key"]?.text } == ["a"])
        #expect(result.all("Error").map { $0["Code"]?.text } == ["NotImplemented"])
        #expect(bucket.objects.keys.map(\.text).sorted() == ["b", "c"])
    }

    @Test func `a multipart upload takes parts of bodies and of objects, lists them, and makes one object of them`()
        throws
    {
        var bucket = S3Bucket()
        let part = String(repeating: "a", count: 5 << 20)
        _ = send("PUT", key: "source", body: "x\(part)x", in: &bucket)
        let begun = try XMLElement(
            parsing: send("POST", "uploads", key: "k", headers: ["x-amz-meta-k": "v"], in: &bucket).body
        )
        let id = try #require(begun["UploadId"]?.text)
        let fields: HTTPFields = ["x-amz-copy-source": "b/source", "x-amz-copy-source-range": "bytes=1-\(5 << 20)"]
        let copied = send("PUT", "partNumber=1&uploadId=\(id)", key: "k", headers: fields, in: &bucket)
        let copy = try XMLElement(parsing: copied.body)
        #expect(copy.name == "CopyPartResult" && copy["ETag"] != nil)
        let beyond: HTTPFields = ["x-amz-copy-source": "b/source", "x-amz-copy-source-range": "bytes=1-\(6 << 20)"]
        #expect(send("PUT", "partNumber=2&uploadId=\(id)", key: "k", headers: beyond, in: &bucket).status == 400)
        let put = send("PUT", "partNumber=3&uploadId=\(id)", key: "k", body: "b", in: &bucket)
        let list = try XMLElement(parsing: send("GET", "uploadId=\(id)&max-parts=1", key: "k", in: &bucket).body)
        #expect(list["IsTruncated"]?.text == "true" && list.all("Part").map { $0["Size"]?.text } == ["\(5 << 20)"])
        let parts = [(1, copy["ETag"]?.text ?? ""), (3, put.headers["ETag"]?.filter { $0 != "\"" } ?? "")].map {
            "<Part><PartNumber>\($0.0)</PartNumber><ETag>\(XMLElement.escaped($0.1))</ETag></Part>"
        }
        let body = "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
        let done = try XMLElement(parsing: send("POST", "uploadId=\(id)", key: "k", body: body, in: &bucket).body)
        #expect(done["ETag"]?.text.hasSuffix("-2\"") == true && done["Key"]?.text == "k" && done["Bucket"]?.text == "b")
        let object = send("GET", key: "k", in: &bucket)
        #expect(object.text == "\(part)b" && object.headers["x-amz-meta-k"] == "v")
        #expect(send("DELETE", "uploadId=\(id)", key: "k", in: &bucket).status == 404)
    }

    @Test func `keys are compared by bytes`() throws {
        var bucket = bucket(["\u{e9}", "e\u{301}", "z"])
        #expect(bucket.objects.count == 3)
        let list = try XMLElement(parsing: send("GET", "list-type=2", in: &bucket).body)
        #expect(keys(list).map { Array($0.utf8) } == ["e\u{301}", "z", "\u{e9}"].map { Array($0.utf8) })
        #expect(send("DELETE", key: "e\u{301}", in: &bucket).status == 204)
        #expect(send("GET", key: "\u{e9}", in: &bucket).status == 200)
        #expect(send("GET", key: "e\u{301}", in: &bucket).status == 404)
    }
}
