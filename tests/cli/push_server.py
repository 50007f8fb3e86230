"""A server for tests of `tally push`.

Usage: push_server.py FOLDER [CERTIFICATE KEY]

Listens on a free port of this machine, which it writes to FOLDER/port.  FOLDER/answers has a word for each request, the first
line first; without one it is 200.  A number is the status; "N:S" with Retry-After: S; "slow" answers after 30 s, "cut" reads
half of the body and closes the connection, "first" answers 200 to a request of one profile, else 400, and "bad:LABEL" answers
400 to a request that has a profile with that value of a label.  Each request becomes a line of FOLDER/log: its status, and
the labels of each profile; profiles that are taken become FOLDER/taken-N.
"""

import http.server
import os
import ssl
import sys
import threading
import time

folder = sys.argv[1]
lock = threading.Lock()
state = {"taken": 0}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        assert key & 7 == 2, "only strings and messages are in a PushRequest"
        size, at = varint(data, at)
        assert at + size <= len(data), "a field is longer than the message"
        yield key >> 3, data[at:at + size]
        at += size


def series_of(body):
    """[(labels, [(id, profile)])]"""
    found = []
    for number, series in fields(body):
        assert number == 1
        labels, samples = [], []
        for number, part in fields(series):
            if number == 1:
                pair = dict(fields(part))
                labels.append((pair[1].decode(), pair[2].decode()))
            else:
                sample = dict(fields(part))
                samples.append((sample[2].decode(), sample[1]))
        assert labels == sorted(labels)
        found.append((dict(labels), samples))
    return found


def next_answer():
    with lock:
        path = os.path.join(folder, "answers")
        try:
            with open(path) as file:
                lines = file.read().split()
        except FileNotFoundError:
            return "200"
        if not lines:
            return "200"
        if len(lines) > 1 and lines[-1] == "...":  # the one before for ever
            if len(lines) == 2:
                return lines[0]
        with open(path + ".new", "w") as file:
            file.write("\n".join(lines[1:]) + "\n")
        os.rename(path + ".new", path)
        return lines[0]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, text):
        with lock, open(os.path.join(folder, "log"), "a") as log:
            log.write(text + "\n")

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        answer = next_answer()
        if answer == "cut":
            self.rfile.read(size // 2)
            self.note("cut")
            self.close_connection = True
            self.connection.close()
            return
        body = self.rfile.read(size)
        if self.path != "/push.v1.PusherService/Push" or self.headers["Content-Type"] != "application/proto":
            answer = "404"
        found = series_of(body)
        if answer == "slow":
            self.note("slow")
            time.sleep(30)
            return
        word, _, more = answer.partition(":")
        if word == "bad":
            bad = any(more in labels.values() for labels, _ in found)
            status = 400 if bad else 200
        else:
            status = int(word)
        if status == 200:
            with lock:
                for _, samples in found:
                    for _, profile in samples:
                        state["taken"] += 1
                        with open(os.path.join(folder, "taken-%d" % state["taken"]), "wb") as file:
                            file.write(profile)
        texts = [",".join("%s=%s" % pair for pair in sorted(labels.items())) for labels, _ in found]
        ids = [sample[0] for _, samples in found for sample in samples]
        self.note("%d %s" % (status, " ".join(texts)))
        with lock, open(os.path.join(folder, "headers"), "a") as log:
            log.write("%s|%s|%s|%s\n" % (self.headers["Authorization"], self.headers["X-Scope-OrgID"],
                                         self.headers["User-Agent"], " ".join(ids)))
        reply = b"{}" if status == 200 else b'{"code":"test","message":"the test says so\x1b[31m"}'
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        if word.isdigit() and more:
            self.send_header("Retry-After", more)
        self.end_headers()
        self.wfile.write(reply)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", int(os.environ.get("PORT", "0"))), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(folder, "port.new"), "w") as file:
    file.write(str(server.server_port))
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
