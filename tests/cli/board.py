"""Asks a board over HTTP, as its page does and as nobody should: board.py TANDEM."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import events

tandem = sys.argv[1]


@contextlib.contextmanager
def board(folder, *options):
    """A board's process, its port and token."""
    process = subprocess.Popen([tandem, "board", folder, *options], stdout=subprocess.PIPE, text=True)
    try:
        found = next(filter(None, (re.search(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", line) for line in process.stdout)))
        yield process, int(found[1]), found[2]
    finally:
        process.kill()
        process.wait()


def ask(port, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read(), answer.headers


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, "never true"
        time.sleep(0.05)


runs = pathlib.Path("runs")
events.write_run(runs / "b/c", 5000, ["train/loss"])
hostile = runs / "<img src=x onerror=alert(1)>"
events.write_run(hostile, 3, ['"><img src=x onerror=alert(1)>', "\udcff".encode("utf-8", "surrogateescape").decode("latin-1")])
os.mkfifo(runs / "b/events.out.tfevents.pipe")
os.symlink("/etc/passwd", runs / "b/events.out.tfevents.link")
os.symlink("/", runs / "everything")
outside = pathlib.Path("outside")
events.write_run(outside, 3, ["secret"])
os.symlink(outside.resolve(), runs / "way_out")
(runs / "b/report.html").symlink_to("/etc/passwd")
closed = runs / "closed"
events.write_run(closed, 3, ["x"])
closed.chmod(0)

with board("runs", "--port", "0") as (process, port, token):
    home = f"/{token}/"

    def get(what, **parameters):
        status, body, _ = ask(port, home + what + "?" + urllib.parse.urlencode(parameters))
        assert status == 200, (what, status, body)
        return json.loads(body)

    def run(name):
        return next((r for r in get("state")["runs"] if r["name"] == name), None)

    # Who is let in.
    status, body, headers = ask(port, home)
    assert status == 200 and b"tandem board" in body
    assert "default-src 'none'" in headers["Content-Security-Policy"] and headers["X-Content-Type-Options"] == "nosniff"
    assert "http://" not in body.decode() and "https://" not in body.decode(), "the page loads something from elsewhere"
    for file in ("page.css", "page.js"):
        status, body, _ = ask(port, home + file)
        assert status == 200 and len(body) > 1000 and b"https://" not in body, file
    for path in ("/", "/state", f"/{token}", f"/{token[:-1]}{'0' if token[-1] != '0' else '1'}/", "//", "/" + "0" * 32 + "/state"):
        assert ask(port, path)[0] == 403, path
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", f"127.0.0.1:{port}.evil.example", ""):
        assert ask(port, home, Host=host)[0] in (400, 403), host
    assert ask(port, home, Host=f"localhost:{port}")[0] == 200
    for header in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": f"http://127.0.0.1:{port + 1}"}, {"Sec_Fetch_Site": "cross-site"},
                   {"Sec_Fetch_Site": "same-site"}):
        assert ask(port, home + "state", **header)[0] == 403, header
    assert ask(port, home + "state", Origin=f"http://127.0.0.1:{port}", Sec_Fetch_Site="same-origin")[0] == 200
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert ask(port, home + "state", method=method, Content_Length="0")[0] == 405, method

    # No path leads out.
    for path in ("../../etc/passwd", "..%2f..%2fetc/passwd", "/etc/passwd", "%2fetc%2fpasswd", "report?run=../..", "report?run=0/../../..",
                 "picture?run=0&tag=../../../etc/passwd&step=0", "page.css/../../../../etc/passwd", "x" * 5000):
        status, body, _ = ask(port, home + path)
        assert status in (400, 404, 414) and b"root:" not in body, (path, status)
    state = until(lambda: (lambda s: s if len(s["runs"]) >= 3 and not s["reading"] else None)(get("state")))
    names = [r["name"] for r in state["runs"]]
    assert "a" in names and "b/c" in names and hostile.name in names, names
    assert not any("way_out" in name or "everything" in name for name in names), names
    assert not any("secret" in r["scalars"] for r in state["runs"])
    assert b"root:" not in ask(port, home + f"report?run={[r['id'] for r in state['runs'] if r['name'] == 'b'] or [0]}")[1]

    # Curves: few points, no peak lost, what has not changed is not told again.
    assert get("state", since=get("state")["version"]).keys() == {"version"}
    c = run("b/c")
    whole = get("curves", tag="train/loss", runs=c["id"], points=5000)[0]
    assert whole["points"] == 5000 and whole["steps"] == list(range(5000))
    few = get("curves", tag="train/loss", runs=f"{c['id']},99,x", points=100)[0]
    assert len(few["steps"]) <= 100 and few["steps"] == sorted(set(few["steps"]))
    assert (few["steps"][0], few["steps"][-1]) == (0, 4999)
    assert max(few["values"]) == max(whole["values"]) and min(few["values"]) == min(whole["values"])
    value_at = dict(zip(whole["steps"], whole["values"]))
    assert all(value_at[s] == v for s, v in zip(few["steps"], few["values"]))
    assert get("curves", tag="no such", runs=c["id"]) == []
    for what in ("state", "page.js"):  # compressing for a browser on the same machine took longer than all else
        status, body, headers = ask(port, home + what, Accept_Encoding="gzip, deflate, br")
        assert status == 200 and headers["Content-Encoding"] is None and int(headers["Content-Length"]) == len(body), (what, headers)
    part = get("curves", tag="train/loss", runs=c["id"], points=100, **{"from": 1000, "to": 1050})[0]
    assert part["steps"] == list(range(999, 1052)) and part["points"] == 5000, part["steps"]  # and one beyond each end
    assert get("curves", tag="train/loss", runs=c["id"], points=100, **{"from": 9000, "to": 1})[0]["steps"] == [4999]
    assert c["scalars"]["train/loss"][2] == 5000

    # A report has a place of its own; pictures, histograms and texts are what the run wrote.
    a = run("a")
    status, body, headers = ask(port, home + f"report?run={a['id']}")
    assert status == 200 and b"<html" in body and headers["Content-Security-Policy"].startswith("sandbox allow-scripts;")
    tag = a["images"][0]
    step = get("pictures", tag=tag, runs=a["id"])[0]["steps"][0]
    status, body, headers = ask(port, home + "picture?" + urllib.parse.urlencode({"tag": tag, "run": a["id"], "step": step}))
    assert status == 200 and body.startswith(b"\x89PNG") and headers["Content-Type"] == "image/png"
    found = get("histograms", tag="net.1.weight", run=a["id"])
    assert sum(bucket[2] for bucket in found[-1]["buckets"]) == 64 * 128
    assert "Linear" in "".join(get("texts", run=a["id"]).values())
    assert isinstance(get("devices"), list)
    assert get("ledger", run=a["id"]) is None and get("timeline", run=a["id"]) is None
    assert ask(port, home + f"trace?run={a['id']}")[0] == 404
    (runs / "a/trace.json").symlink_to("/etc/passwd")
    status, body, _ = ask(port, home + f"trace?run={a['id']}")
    assert status == 404 and b"root:" not in body
    (runs / "a/trace.json").unlink()
    (runs / "a/trace.json").write_bytes(b'{"traceEvents": [' + b" " * (3 << 20) + b"]}")  # more than a piece
    status, body, headers = ask(port, home + f"trace?run={a['id']}")
    assert status == 200 and body == (runs / "a/trace.json").read_bytes() and headers["Content-Disposition"].startswith("attachment"), status

    # What is no picture is not served as one.
    with open(hostile / "events.out.tfevents.1700000000.host.1.0", "ab") as file:
        file.write(events.image("page", b"<script>alert(1)</script>", 1))
    h = until(lambda: (lambda r: r if r["images"] else None)(run(hostile.name)))
    assert ask(port, home + f"picture?tag=page&run={h['id']}&step=1")[0] == 404

    # Files grow, half a record at a time; are damaged; become shorter; go away.
    path = runs / "b/c/events.out.tfevents.1700000000.host.1.0"
    more = events.scalar("train/loss", 7.0, 5000)
    with open(path, "ab") as file:
        file.write(more[:9])
    version = get("state")["version"]
    with open(path, "ab") as file:
        file.write(more[9:])
    until(lambda: run("b/c")["scalars"]["train/loss"][0] == 5000)
    assert get("state")["version"] > version
    with open(path, "ab") as file:
        file.write(b"x" * 100)
    assert "damaged" in until(lambda: run("b/c")["trouble"]) and run("b/c")["scalars"]["train/loss"][0] == 5000
    grown = runs / "later/events.out.tfevents.1.h.1.0"
    events.write_run(runs / "later", 30, ["x"])
    until(lambda: run("later") and run("later")["scalars"].get("x", [0])[0] == 29)
    with open(runs / "later/events.out.tfevents.1700000000.host.1.0", "wb") as file:
        file.write(events.scalar("y", 1.0, 3))
    until(lambda: run("later")["scalars"].keys() == {"y"})
    shutil.rmtree(runs / "later")
    until(lambda: run("later") is None)

    # A resumed run goes back: what it does again takes the place of what it did.
    resumed = runs / "resumed"
    resumed.mkdir()
    with open(resumed / "events.out.tfevents.1", "wb") as file:
        for s in (*range(10), 5, 6):
            file.write(events.scalar("x", float(s), s))
    r = until(lambda: (lambda r: r if r and "x" in r["scalars"] and r["scalars"]["x"][0] == 6 else None)(run("resumed")))
    assert get("curves", tag="x", runs=r["id"])[0]["steps"] == [0, 1, 2, 3, 4, 5, 6]

    # Many clients that say nothing do not keep others out for good.
    idle = [http.client.HTTPConnection("127.0.0.1", port) for _ in range(20)]
    for connection in idle:
        connection.connect()
    assert get("state")["runs"]
    for connection in idle:
        connection.close()

    # A second board does not take the port, but finds another one where none was asked for.
    second = subprocess.run([tandem, "board", "runs", "--port", str(port)], capture_output=True, text=True, timeout=60)
    assert second.returncode == 2 and f"port {port} of 127.0.0.1 cannot be had" in second.stderr, second

    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0

with board("runs") as (process, port, token):
    with board("runs") as (other, other_port, other_token):
        assert port != other_port and token != other_token
        assert ask(other_port, f"/{token}/")[0] == 403
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
closed.chmod(0o700)
print("asked")
