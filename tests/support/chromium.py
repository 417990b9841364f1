"""Chromium without a window, driven over a pipe (the DevTools protocol), and a server for the pages that it shows. Only this machine is reached."""

import contextlib
import fcntl
import functools
import http.server
import json
import os
import select
import shutil
import subprocess
import tempfile
import threading
import time


def program():
    """The path of Chromium, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page:
    """One page. `with Page(size) as page: page.open(address)`."""

    def __init__(self, size=(1200, 800), scale=1):
        self.size, self.scale = size, scale

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
                   "--no-first-run", "--disable-background-networking", "--disable-component-update",
                   f"--user-data-dir={self.profile.name}", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "about:blank"]
        # The browser reads commands from descriptor 3 and answers on 4: ours must be others, or one redirection would undo the next.
        low = commands, answers
        commands, answers = (fcntl.fcntl(pipe, fcntl.F_DUPFD, 10) for pipe in low)
        for pipe in low:
            os.close(pipe)
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "bash", program(), *options],
                                        pass_fds=(commands, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.rest, self.number, self.session = b"", 0, None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        width, height = self.size
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=self.scale, mobile=False)
        return self

    def __exit__(self, *_):
        self.session = None
        with contextlib.suppress(Exception):
            self.call("Browser.close", seconds=5)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.profile.cleanup()

    def call(self, method, seconds=120, **parameters):
        """A command of the protocol, and its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + seconds
        while True:
            while b"\0" in self.rest:
                answer, self.rest = self.rest.split(b"\0", 1)
                answer = json.loads(answer)
                if answer.get("id") != self.number:
                    continue  # an event
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if not select.select([self.answers], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"{method}: no answer from Chromium in {seconds} seconds")
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise RuntimeError(f"{method}: Chromium has ended")
            self.rest += more

    def open(self, address):
        error = self.call("Page.navigate", url=address).get("errorText")
        if error:
            raise RuntimeError(f"{address}: {error}")

    def value(self, script, seconds=120):
        """What the script's expression, or the promise that it gives, comes to."""
        result = self.call("Runtime.evaluate", seconds, expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {json.dumps(result['exceptionDetails'])[:2000]}")
        return result["result"].get("value")

    def wait_for(self, script, seconds=120):
        """Until the expression is true."""
        end = time.monotonic() + seconds
        while not self.value(script):
            if time.monotonic() > end:
                raise TimeoutError(f"not true in {seconds} seconds: {script}")
            time.sleep(0.05)

    def picture(self):
        """The page as a PNG, in base64."""
        return self.call("Page.captureScreenshot", format="png")["data"]


@contextlib.contextmanager
def served(folder, files=()):
    """Serves the folder, and besides {name: path} of `files`, to this machine. Gives the address."""
    files = dict(files)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def translate_path(self, path):
            return files.get(path.split("?")[0].lstrip("/")) or super().translate_path(path)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
