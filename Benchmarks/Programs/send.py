# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
"""send.py PORT FIRST COUNT BYTES: sends events with Segment's own client for Python (segment-analytics-python) to the sink at a
port, in requests of a hundred; prints the nanoseconds for each event until the sink has counted it, and those of processor time.

The client keeps its queue in memory. The sink has counted FIRST events before, and the ids continue from there."""
import sys
import time
import urllib.request

from segment.analytics.client import Client


def main(port, first, count, size):
    sink = f"http://127.0.0.1:{port}"
    # Without the filler, an event of the host has 202 bytes.
    filler = "x" * max(0, size - 202)
    errors = []
    client = Client(
        "key",
        host=sink,
        max_queue_size=count,
        upload_size=100,
        on_error=lambda error, batch: errors.append(error),
    )
    start, used = time.perf_counter_ns(), time.process_time_ns()
    for number in range(first, first + count):
        properties = {"product": "Socks", "total": number % 1000 + 0.5, "note": filler}
        client.track(f"user-{number % 10_000}", "Order Completed", properties, message_id=f"bench-{number:030}")
    client.flush()
    took, cost = time.perf_counter_ns() - start, time.process_time_ns() - used
    client.join()
    with urllib.request.urlopen(f"{sink}/count/{first + count}") as answer:
        arrived = int(answer.read().split()[0])
    if errors or arrived != first + count:
        sys.exit(f"send.py: of {first + count} events arrived {arrived}: {errors[:1]}")
    print(took / count, cost / count)


main(*map(int, sys.argv[1:]))
