"""mirror.py FOLDER PORTFILE - a small http server on loopback for the tests of `fathom data get`, with faults by path:

/plain/F    the file, ranges allowed      /redirect/F  sent on to /plain/F        /missing/F  404
/slow/F     in small pieces, slowly       /wrong/F     the right length, other bytes
/cut/F      the first half, then the connection ends; a request for the rest is answered
/stuck/F    the first 100 bytes, and never more, whatever is asked       /large/F  more bytes than the file has
/norange/F  like cut, but a range is answered with the whole file from its start, which then is not cut
/tofile/F   sent on to file:// of it      /toftp/F     sent on to ftp://
/drip/F     a byte every quarter of a second
Ends by itself after five minutes.
"""
import http.server
import os
import sys
import threading
import time

FOLDER, PORTFILE = sys.argv[1:3]
seen = set()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        print(self.path, self.headers.get("Range", ""), flush=True)

    def do_GET(self):
        mode, name = self.path.strip("/").split("/", 1)
        path = os.path.join(FOLDER, os.path.basename(name))
        if mode == "redirect":
            self.send_response(302)
            self.send_header("Location", "/plain/" + name)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return self.log_message()
        if mode in ("tofile", "toftp"):
            self.send_response(302)
            self.send_header("Location", "file://" + os.path.abspath(path) if mode == "tofile" else "ftp://127.0.0.1:9/x")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return self.log_message()
        if mode == "missing" or not os.path.exists(path):
            self.send_error(404)
            return self.log_message()
        data = open(path, "rb").read()
        if mode == "wrong":
            data = bytes(len(data))
        if mode == "large":
            data += b"more"
        begin = 0
        wanted = self.headers.get("Range")
        if wanted and mode != "norange":
            begin = int(wanted.split("=")[1].split("-")[0])
            if begin >= len(data):
                self.send_error(416)
                return self.log_message()
            self.send_response(206)
            self.send_header("Content-Range", "bytes %d-%d/%d" % (begin, len(data) - 1, len(data)))
        else:
            self.send_response(200)
        rest = data[begin:]
        self.send_header("Content-Length", str(len(rest)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.log_message()
        if (mode == "cut" and begin == 0) or (mode == "norange" and name not in seen):
            rest = rest[:(len(rest) + 1) // 2]
            seen.add(name)
        if mode == "stuck":
            rest = rest[:100] if begin == 0 else b""
        if mode in ("slow", "drip"):
            size, pause = (65536, 0.05) if mode == "slow" else (1, 0.25)
            for i in range(0, len(rest), size):
                self.wfile.write(rest[i:i + size])
                self.wfile.flush()
                time.sleep(pause)
        else:
            self.wfile.write(rest)
        self.close_connection = True


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(PORTFILE + ".new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(PORTFILE + ".new", PORTFILE)
threading.Timer(300, lambda: os._exit(0)).start()
server.serve_forever()
