"""Stores: a few keys and values that the ranks of a program share, to find each other by, for instance."""

import fcntl
import json
import os
import socket
import socketserver
import threading
import time
from datetime import timedelta

_TIMEOUT = timedelta(minutes=5)
_POLL_SECONDS = 0.01


def _text(value):
    return value.decode("latin-1") if isinstance(value, (bytes, bytearray)) else str(value).encode().decode("latin-1")


class Store:
    """What all stores have. A subclass carries out one request at a time by `_ask(command, key, value, expected)`."""

    def __init__(self, timeout=_TIMEOUT):
        self._timeout = timeout

    @property
    def timeout(self):
        """How long `get` and `wait` wait unless told."""
        return self._timeout

    def set_timeout(self, timeout):
        """Sets how long `get` and `wait` wait."""
        self._timeout = timeout

    def set(self, key, value):
        """Sets a key to a text or bytes."""
        self._ask("set", key, _text(value))

    def get(self, key):
        """The value of a key, bytes; waits until it is set."""
        self.wait([key])
        return self._ask("get", key).encode("latin-1")

    def add(self, key, amount):
        """Adds to the number of a key, 0 before the first time, and gives the sum."""
        return int(self._ask("add", key, str(amount)))

    def append(self, key, value):
        """Adds bytes to the end of a value."""
        self._ask("append", key, _text(value))

    def compare_set(self, key, expected_value, desired_value):
        """Sets a key where it has the expected value, or has none and that is empty. Gives the value that it has then."""
        found = self._ask("compare_set", key, _text(desired_value), _text(expected_value))
        return (_text(expected_value) if found is None else found).encode("latin-1")

    def check(self, keys):
        """Whether all keys are set."""
        return all(self._ask("check", key) for key in keys)

    def wait(self, keys, timeout=None):
        """Waits until all keys are set; RuntimeError where the time is over first."""
        limit = self._timeout if timeout is None else timeout
        deadline = time.monotonic() + limit.total_seconds()
        while not self.check(keys):
            if time.monotonic() >= deadline:
                raise RuntimeError(f"wait timeout after {int(limit.total_seconds() * 1000)}ms, keys: /{', /'.join(keys)}")
            time.sleep(_POLL_SECONDS)

    def delete_key(self, key):
        """Takes a key away. Whether it was there."""
        return self._ask("delete", key)

    def num_keys(self):
        """How many keys are set."""
        return self._ask("count", "")

    def multi_get(self, keys):
        """The values of several keys."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys, values):
        """Sets several keys."""
        for key, value in zip(keys, values):
            self.set(key, value)

    def _ask(self, command, key, value=None, expected=None):
        raise NotImplementedError


def _answer(table, command, key, value, expected):
    """Carries a request out on a dictionary of texts."""
    if command == "set":
        table[key] = value
    elif command == "get":
        return table.get(key)
    elif command == "add":
        table[key] = str(int(table.get(key, "0")) + int(value))
        return table[key]
    elif command == "append":
        table[key] = table.get(key, "") + value
    elif command == "compare_set":
        if table.get(key, "") == expected:
            table[key] = value
        return table.get(key)
    elif command == "check":
        return key in table
    elif command == "delete":
        return table.pop(key, None) is not None
    elif command == "count":
        return len(table)
    return None


class HashStore(Store):
    """For the threads of one process."""

    def __init__(self):
        super().__init__()
        self._table = {}
        self._lock = threading.Lock()

    def _ask(self, command, key, value=None, expected=None):
        with self._lock:
            return _answer(self._table, command, key, value, expected)


class FileStore(Store):
    """In a file that all processes reach."""

    def __init__(self, file_name, world_size=-1):
        super().__init__()
        self.path = file_name

    def _ask(self, command, key, value=None, expected=None):
        with open(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            text = file.read()
            table = json.loads(text) if text else {}
            before = dict(table)
            result = _answer(table, command, key, value, expected)
            if table != before:
                file.seek(0)
                file.truncate()
                json.dump(table, file)
            return result


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address):
        self.table, self.lock = {}, threading.Lock()
        super().__init__(address, _Handler)


class _Handler(socketserver.StreamRequestHandler):
    """One client's requests, a line of JSON each."""

    def handle(self):
        for line in self.rfile:
            try:
                command, key, value, expected = json.loads(line)
                with self.server.lock:
                    result = _answer(self.server.table, command, key, value, expected)
            except (ValueError, TypeError, AttributeError):
                return  # not one of us
            self.wfile.write(json.dumps(result).encode() + b"\n")


class TCPStore(Store):
    """Held by the process that says `is_master`, which all others reach at its port. Nothing is encrypted, and everybody is let in."""

    def __init__(
        self, host_name, port=0, world_size=None, is_master=False, timeout=_TIMEOUT, wait_for_workers=True, multi_tenant=False,
        master_listen_fd=None, use_libuv=True,
    ):
        super().__init__(timeout)
        self.host = host_name
        self._server = None
        if is_master:
            self._server = _Server((host_name, port))
            port = self._server.server_address[1]
            threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        self.port = port
        self._lock = threading.Lock()
        self._socket = self._connect()
        self._lines = self._socket.makefile("rb")
        if wait_for_workers and world_size is not None:
            self.add("tandem/workers", 1)
            if is_master:
                self._wait_for_workers(world_size)

    def _connect(self):
        deadline = time.monotonic() + self._timeout.total_seconds()
        while True:
            try:
                return socket.create_connection((self.host, self.port), timeout=self._timeout.total_seconds())
            except OSError as error:
                if time.monotonic() >= deadline:
                    raise RuntimeError(
                        f"The client socket has timed out after {self._timeout} while trying to connect to ({self.host}, {self.port})."
                    ) from error
                time.sleep(_POLL_SECONDS)

    def _wait_for_workers(self, world_size):
        deadline = time.monotonic() + self._timeout.total_seconds()
        while (come := self.add("tandem/workers", 0)) < world_size:
            if time.monotonic() >= deadline:
                raise RuntimeError(f"Timed out after {self._timeout} waiting for clients. {come}/{world_size} clients joined.")
            time.sleep(_POLL_SECONDS)

    def _ask(self, command, key, value=None, expected=None):
        with self._lock:
            self._socket.sendall(json.dumps([command, key, value, expected]).encode() + b"\n")
            line = self._lines.readline()
        if not line:
            raise RuntimeError(f"the store at ({self.host}, {self.port}) has ended")
        return json.loads(line)

    def __del__(self):
        if self.__dict__.get("_socket") is not None:
            self._lines.close()
            self._socket.close()
        if self.__dict__.get("_server") is not None:
            self._server.shutdown()
            self._server.server_close()


class PrefixStore(Store):
    """Another store, whose keys get a prefix."""

    def __init__(self, prefix, store):
        super().__init__(store.timeout)
        self.prefix, self.underlying_store = prefix, store

    def _ask(self, command, key, value=None, expected=None):
        return self.underlying_store._ask(command, f"{self.prefix}/{key}", value, expected)
