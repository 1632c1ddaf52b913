# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
"""Lets a client do its work against the simulators: `clients.py CLIENT SIMULATOR-URL`. Prints {"done": true} at the end."""

import json
import sys

client, simulator = sys.argv[1:]
host = simulator.removeprefix("http://")


def sentry_sdk():
    import sentry_sdk

    dsn = f"http://0123456789abcdef0123456789abcdef@{host}/sentry/1"
    sentry_sdk.init(dsn=dsn, release="shop@1.2.3", environment="acceptance", default_integrations=False)
    try:
        raise ValueError("sold out") from KeyError("stock")
    except ValueError:
        assert sentry_sdk.capture_exception()
    sentry_sdk.capture_message("low stock", level="warning")
    sentry_sdk.flush(10)
    received(2, "sold out", "low stock")


def bugsnag():
    import bugsnag

    bugsnag.configure(
        api_key="0123456789abcdef0123456789abcdef",
        endpoint=f"{simulator}/bugsnag",
        session_endpoint=f"{simulator}/bugsnag/sessions",
        auto_capture_sessions=False,
        asynchronous=False,
    )
    bugsnag.notify(ValueError("sold out"), severity="warning", metadata={"order": {"number": 17}})
    received(1, "ValueError", "sold out")


def segment_analytics_python():
    from segment.analytics.client import Client

    errors = []
    with_gzip = Client("demo-write-key", host=f"{simulator}/segment", on_error=lambda error, _: errors.append(error), gzip=True)
    with_gzip.track("u1", "Order Completed", {"total": 42.5})
    with_gzip.identify("u1", {"plan": "pro"})
    with_gzip.group("u1", "g1", {"seats": 5})
    with_gzip.flush()
    with_gzip.shutdown()
    assert not errors, errors
    received(1, "Order Completed", "42.5")


def posthog():
    from posthog import Posthog

    errors = []
    client = Posthog(
        "phc_demo",
        host=f"{simulator}/posthog",
        on_error=lambda error, _: errors.append(error),
        gzip=True,
        secret_key="phx_demo",
    )
    client.load_feature_flags()
    assert client.feature_flags == [], client.feature_flags
    client.capture("Order Completed", distinct_id="u1", properties={"total": 42.5})
    client.set(distinct_id="u1", properties={"plan": "pro"})
    client.flush()
    client.shutdown()
    assert not errors, errors
    received(1, "Order Completed", "42.5")


def amplitude_analytics():
    from amplitude import Amplitude, BaseEvent, Identify

    answers = []
    client = Amplitude("0123456789abcdef0123456789abcdef")
    client.configuration.server_url = f"{simulator}/amplitude/2/httpapi"
    client.configuration.callback = lambda event, code, message=None: answers.append((code, message))
    client.track(BaseEvent("Order Completed", user_id="user-1", event_properties={"total": 42.5}))
    client.identify(Identify().set("plan", "pro"), BaseEvent("$identify", user_id="user-1"))
    for result in client.flush():
        result and result.result()
    client.shutdown()
    assert [code for code, _ in answers] == [200, 200], answers
    received(1, "Order Completed", "42.5", "pro")


def mixpanel():
    import mixpanel

    token = "0123456789abcdef0123456789abcdef"
    consumer = mixpanel.Consumer(
        events_url=f"{simulator}/mixpanel/track",
        people_url=f"{simulator}/mixpanel/engage",
        groups_url=f"{simulator}/mixpanel/groups",
        import_url=f"{simulator}/mixpanel/import",
        retry_limit=0,
    )
    client = mixpanel.Mixpanel(token, consumer=consumer)
    client.track("u1", "Order Completed", {"total": 42.5})
    client.people_set("u1", {"plan": "pro"})
    client.group_set("company", "g1", {"seats": 5})
    client.import_data(token, "u1", "Order Imported", 1767355200, {"total": 7}, api_secret=token)
    received(4, "Order Completed", "Order Imported", "seats")


def aiomixpanel():
    import asyncio

    import aiohttp
    import aiomixpanel
    import mixpanel

    async def work():
        async with aiohttp.ClientSession() as session:
            url = f"{simulator}/mixpanel"
            consumer = aiomixpanel.AIOConsumer(session, events_url=f"{url}/track", people_url=f"{url}/engage")
            client = mixpanel.Mixpanel("0123456789abcdef0123456789abcdef", consumer=consumer)
            client.track("u1", "Order Completed", {"total": 42.5})
            client.people_set("u1", {"plan": "pro"})
            # Each request is a task, which fails unless the answer is good.
            await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

    asyncio.run(work())


def rollbar():
    import rollbar

    rollbar.init("0123456789abcdef0123456789abcdef", "acceptance", endpoint=f"{simulator}/rollbar/api/1/", handler="blocking")
    try:
        raise ValueError("sold out") from KeyError("stock")
    except ValueError:
        rollbar.report_exc_info(level="critical", extra_data={"order": 17})
    rollbar.report_message("low stock", "warning")
    received(2, "sold out", "low stock")


def ga4mp():
    from ga4mp import GtagMP

    client = GtagMP(api_secret="demo-api-secret", measurement_id="G-DEMO", client_id="123.456")
    client._base_domain = f"{simulator}/ga4/mp/collect"
    client._validation_domain = f"{simulator}/ga4/debug/mp/collect"
    event = client.create_new_event(name="order_completed")
    event.set_event_param(name="total", value=42.5)
    client.store.set_user_property(name="plan", value="pro")
    client.send(events=[event], validation_hit=True)
    client.send(events=[event])
    received(2, "order_completed", "42.5", "pro")


def matomopy():
    from matomopy import MatomoClient, MatomoTracker

    token = "0123456789abcdef0123456789abcdef"
    tracker = MatomoTracker(f"{simulator}/matomo", 1, token)
    tracker.set_user_id("u1").set_ip("192.0.2.1").set_custom_timestamp(1767355200)
    tracker.set_url("http://shop.example/")
    tracker.track_page_view("Home")
    tracker.enable_bulk_tracking()
    tracker.track_event("Shop", "Order Completed", value=42.5)
    tracker.track_page_view("Thanks")
    answer = tracker.flush()
    assert (answer["tracked"], answer["invalid"], answer["invalid_indices"]) == (2, 0, []), answer
    site = MatomoClient(f"{simulator}/matomo", token_auth=token).call("SitesManager.getSiteFromId", idSite=1)
    assert site["name"] == "Demo", site
    received(3, "Order Completed", "42.5")


def postgrest():
    from postgrest import SyncPostgrestClient
    from postgrest.exceptions import APIError

    def client(token):
        return SyncPostgrestClient(f"{simulator}/postgrest", headers={"Authorization": f"Bearer {token}"})

    token = "eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiZGVtbyJ9.demo"
    notes = client(token).from_("notes")
    kept = notes.insert({"id": "kept", "title": "Milk, \"cold\"", "count": 2}).execute().data[0]
    assert kept["id"] == "kept", kept
    notes.insert([{"title": "Many", "count": number} for number in range(5)]).execute()
    assert notes.select("title").eq("title", 'Milk, "cold"').single().execute().data == {"title": 'Milk, "cold"'}
    found = notes.select("count", count="exact").eq("title", "Many").gt("count", 0).order("count", desc=True).range(1, 2).execute()
    assert (found.count, [row["count"] for row in found.data]) == (4, [3, 2]), found
    assert len(notes.select("*").or_("title.eq.Many,count.eq.2").in_("count", [2, 4]).execute().data) == 3
    assert notes.update({"count": 3}).eq("id", "kept").execute().data[0]["count"] == 3
    assert notes.upsert({"id": "kept", "count": 4}).execute().data[0]["title"] == kept["title"]
    assert notes.select("name:title,count::text").eq("id", "kept").execute().data == [{"name": kept["title"], "count": "4"}]
    assert notes.upsert({"id": "kept", "count": 5}, ignore_duplicates=True).execute().data == []
    assert notes.delete().eq("id", "kept").execute().data[0]["count"] == 4
    assert notes.select("*").eq("id", "kept").maybe_single().execute() is None
    for code, work in [
        ("PGRST116", lambda: notes.select("*").single().execute()),
        ("PGRST205", lambda: client(token).from_("nothing").select("*").execute()),
        ("PGRST301", lambda: client("another").from_("notes").select("*").execute()),
    ]:
        try:
            work()
            raise AssertionError(f"{code} did not come")
        except APIError as refused:
            assert refused.code == code, refused


def kinto_http():
    import kinto_http

    client = kinto_http.Client(server_url=f"{simulator}/kinto/v1", auth=("demo", "demo-password"), bucket="demo", collection="notes")
    client.create_bucket(id="demo", if_not_exists=True)
    client.create_collection(id="notes", if_not_exists=True)
    record = client.create_record(data={"title": "Milk", "count": 2})["data"]
    assert client.get_record(id=record["id"])["data"]["title"] == "Milk"
    client.patch_record(id=record["id"], data={"count": 3})
    changed = client.get_record(id=record["id"])["data"]
    assert (changed["title"], changed["count"]) == ("Milk", 3)
    try:
        client.update_record(id=record["id"], data={"title": "Late"}, if_match=record["last_modified"])
        raise AssertionError("an update on an old version went through")
    except kinto_http.KintoException as refused:
        assert refused.response.status_code == 412, refused
    with client.batch() as batch:
        for number in range(5):
            batch.create_record(data={"title": "Many", "number": number})
    pages = client.get_records(title="Many", _sort="-number", _limit=2, pages=10)
    assert [found["number"] for found in pages] == [4, 3, 2, 1, 0], pages
    client.delete_record(id=record["id"])
    try:
        client.get_record(id=record["id"])
        raise AssertionError("a deleted record is there")
    except kinto_http.KintoException as refused:
        assert refused.response.status_code == 404, refused


def googlemaps():
    import googlemaps

    client = googlemaps.Client(key="AIza-demo-key", base_url=f"{simulator}/google")
    place = client.geocode("Pariser Platz 1, Berlin", language="en", region="de")[0]
    assert "Berlin" in place["formatted_address"], place
    assert abs(place["geometry"]["location"]["lat"] - 52.516) < 0.1, place
    assert client.reverse_geocode((52.5163, 13.3777))
    assert client.geocode("Qwxyzburgh 4711") == []
    try:
        googlemaps.Client(key="AIza-another-key", base_url=f"{simulator}/google").geocode("Berlin")
        raise AssertionError("another key was accepted")
    except googlemaps.exceptions.ApiError as refused:
        assert refused.status == "REQUEST_DENIED", refused


def opencage():
    from opencage.geocoder import NotAuthorizedError, OpenCageGeocode

    def geocoder(key):
        client = OpenCageGeocode(key, "http", "localhost")
        client.url = f"{simulator}/opencage/geocode/v1/json"
        return client

    with geocoder("0cdemokey0cdemokey0cdemokey0cdem") as client:
        place = client.geocode("Berlin", language="en", countrycode="de", limit=3)[0]
        assert place["components"]["city"] == "Berlin", place
        assert abs(place["geometry"]["lat"] - 52.5) < 0.1, place
        assert "Paris" in client.reverse_geocode(48.8583, 2.2945)[0]["formatted"]
        assert client.geocode("Qwxyzburgh 4711") == []
    try:
        geocoder("f" * 32).geocode("Berlin")
        raise AssertionError("another key was accepted")
    except NotAuthorizedError:
        pass


def geopy_nominatim():
    from geopy.geocoders import Nominatim

    coder = Nominatim(user_agent="acceptance", domain=f"{host}/nominatim", scheme="http")
    place = coder.geocode("Berlin", addressdetails=True)
    assert abs(place.latitude - 52.5) < 0.1 and abs(place.longitude - 13.4) < 0.1, place
    assert len(coder.geocode("Berlin", exactly_one=False, limit=3)) >= 1
    assert "Paris" in coder.reverse((48.8583, 2.2945)).address
    assert coder.geocode("Qwxyzburgh 4711") is None
    assert coder.reverse((0.5, -140.5)) is None
    assert coder.geocode({"city": "Munich", "country": "Germany"}) is not None


def geopy_photon():
    from geopy.geocoders import Photon

    coder = Photon(user_agent="acceptance", domain=f"{host}/photon", scheme="http")
    place = coder.geocode("Berlin")
    assert abs(place.latitude - 52.5) < 0.1 and abs(place.longitude - 13.4) < 0.1, place
    assert coder.reverse((48.8583, 2.2945)) is not None
    assert coder.geocode("Qwxyzburgh 4711") is None


def influxdb():
    from influxdb import InfluxDBClient

    address, port = host.split(":")
    client = InfluxDBClient(host=address, port=int(port), path="influxdb", database="demo")
    assert client.ping()
    client.create_database("shop")
    assert {"name": "shop"} in client.get_list_database()
    client.switch_database("shop")
    point = {"measurement": "orders", "tags": {"shop": "one"}, "fields": {"total": 42.5, "note": 'a "b", c=d'}}
    assert client.write_points([{**point, "time": "2026-03-01T12:00:00Z"}, {**point, "time": "2026-03-01T12:00:01Z"}])
    points = list(client.query('SELECT * FROM "orders"').get_points())
    assert [(p["total"], p["note"]) for p in points] == [(42.5, 'a "b", c=d')] * 2, points
    assert client.write_points([{"measurement": "bare", "fields": {"v": 1}}])
    assert [name for name, _ in client.query("SHOW TAG KEYS").keys()] == ["orders"]
    last = next(client.query('SELECT last("total") FROM "orders"').get_points())
    assert last["time"] == "2026-03-01T12:00:01Z", last


def boto3():
    import io
    from urllib.request import urlopen

    import boto3 as aws
    from botocore.config import Config
    from botocore.exceptions import ClientError

    s3 = aws.client(
        "s3", endpoint_url=f"{simulator}/s3", region_name="us-east-1", aws_access_key_id="demo-access-key",
        aws_secret_access_key="demo-secret-key", config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
    )
    assert [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]] == ["demo"]
    s3.create_bucket(Bucket="made")
    kept = s3.put_object(Bucket="made", Key="a/b c+ü", Body=b"content", Metadata={"k": "v"}, CacheControl="no-cache")
    assert kept["ETag"] == '"9a0364b9e99bb480dd25e1f0284c8555"', kept
    read = s3.get_object(Bucket="made", Key="a/b c+ü", Range="bytes=-4")
    assert (read["Body"].read(), read["Metadata"], read["CacheControl"]) == (b"tent", {"k": "v"}, "no-cache"), read
    s3.upload_fileobj(io.BytesIO(b"x" * (9 << 20)), "made", "large")
    assert s3.head_object(Bucket="made", Key="large")["ETag"].endswith('-2"')
    listed = s3.list_objects_v2(Bucket="made", Delimiter="/")
    assert [part["Prefix"] for part in listed["CommonPrefixes"]] == ["a/"] and listed["Contents"][0]["Key"] == "large", listed
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket="made", PaginationConfig={"PageSize": 1})
    assert [found["Key"] for page in pages for found in page["Contents"]] == ["a/b c+ü", "large"]
    s3.copy_object(
        Bucket="made", Key="a/b c+ü", CopySource={"Bucket": "made", "Key": "a/b c+ü"}, MetadataDirective="REPLACE",
        Metadata={"k": "w"},
    )
    assert s3.head_object(Bucket="made", Key="a/b c+ü")["Metadata"] == {"k": "w"}
    url = s3.generate_presigned_url("get_object", Params={"Bucket": "made", "Key": "a/b c+ü"})
    assert urlopen(url).read() == b"content"
    for code, work in [
        ("NotImplemented", lambda: s3.put_object_acl(Bucket="made", Key="large", ACL="private")),
        ("NotImplemented", lambda: s3.delete_object_tagging(Bucket="made", Key="large")),
        ("PreconditionFailed", lambda: s3.put_object(Bucket="made", Key="large", Body=b"", IfNoneMatch="*")),
        ("304", lambda: s3.get_object(Bucket="made", Key="a/b c+ü", IfNoneMatch=kept["ETag"])),
        ("BucketNotEmpty", lambda: s3.delete_bucket(Bucket="made")),
    ]:
        try:
            work()
            raise AssertionError(f"{code} did not come")
        except ClientError as refused:
            assert refused.response["Error"]["Code"] == code, refused
    assert s3.head_object(Bucket="made", Key="large")["ContentLength"] == 9 << 20
    gone = s3.delete_objects(Bucket="made", Delete={"Objects": [{"Key": "a/b c+ü"}, {"Key": "large"}]})
    assert len(gone["Deleted"]) == 2, gone
    s3.delete_bucket(Bucket="made")


def received(count, *words):
    """Checks that this many requests came and were accepted, with these words in one of them."""
    from urllib.parse import unquote_plus
    from urllib.request import urlopen

    with urlopen(f"{simulator}/_received") as response:
        requests = [request for request in json.load(response)["requests"] if request["method"] == "POST"]
    assert len(requests) >= count, requests
    assert all(request["status"] < 300 for request in requests), requests
    for word in words:
        assert any(word in unquote_plus(request.get("body", "")) for request in requests), (word, requests)


globals()[client.replace("-", "_")]()
print('{"done": true}')
