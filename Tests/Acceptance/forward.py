# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# Forwards a port of the loopback interface to a Unix socket: forward.py PORT SOCKET

import socket
import sys
import threading


def copy(source, target):
    """Copies until the source ends, and passes on the end."""
    try:
        while data := source.recv(1 << 16):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def main():
    port, path = int(sys.argv[1]), sys.argv[2]
    listener = socket.create_server(("127.0.0.1", port), backlog=128)
    while True:
        client, _ = listener.accept()
        host = socket.socket(socket.AF_UNIX)
        try:
            host.connect(path)
        except OSError:
            client.close()
            continue
        for pair in ((client, host), (host, client)):
            threading.Thread(target=copy, args=pair, daemon=True).start()


main()
