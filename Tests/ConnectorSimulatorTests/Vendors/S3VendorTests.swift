// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHTTPServer
import ConnectorManifest
import Testing

@testable import ConnectorSimulator

/// What S3 answers to requests whose signature is good.
@Suite struct S3VendorTests {
    /// The answer; the bucket is as it is after it.
    private func send(_ method: String, _ query: String = "", key: String = "", in bucket: inout S3Bucket)
        -> HTTPResponse
    {
        var call = S3Method(
            SimulatedRequest(method, "/b?\(query)", receivedAt: noon),
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
    func `a list of more than a page goes on where the last one ended`(_ parameter: String, _ element: String) throws {
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
        ("GET", "location", 501), ("GET", "versions", 501), ("GET", "delimiter=/", 501), ("GET", "list-type=3", 501),
        ("DELETE", "", 405),
    ])
    func `a bucket is listed, and what the simulator cannot is said`(_ method: String, _ query: String, _ status: Int) {
        var bucket = bucket(["a/b"])
        let answer = send(method, query, in: &bucket)
        #expect(answer.status == status)
        #expect(answer.text.contains("<Code>NotImplemented</Code>") == (status == 501))
    }

    @Test(arguments: [
        ("/b", "b", ""), ("/b/", "b", ""), ("/b/d/", "b", "d/"), ("/b/a//b", "b", "a//b"), ("/b//a", "b", "/a"),
        ("/b/%C3%A9%2F/", "b", "é//"), ("/", "", ""),
    ])
    func `a key is the rest of the path as it is`(_ path: String, _ bucket: String, _ key: String) {
        #expect(S3Vendor.place(path, ofBucket: nil) == (bucket, key))
        #expect(S3Vendor.place("/\(key)", ofBucket: "b") == ("b", key))
    }

    @Test func `keys differ by their bytes`() throws {
        var bucket = bucket(["\u{e9}", "e\u{301}", "z"])
        #expect(bucket.objects.count == 3)
        let list = try XMLElement(parsing: send("GET", "list-type=2", in: &bucket).body)
        #expect(keys(list).map { Array($0.utf8) } == ["e\u{301}", "z", "\u{e9}"].map { Array($0.utf8) })
        #expect(send("DELETE", key: "e\u{301}", in: &bucket).status == 204)
        #expect(send("GET", key: "\u{e9}", in: &bucket).status == 200)
        #expect(send("GET", key: "e\u{301}", in: &bucket).status == 404)
    }
}
