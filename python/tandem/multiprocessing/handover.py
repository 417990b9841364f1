"""Hands open file descriptors to other processes of this user, which ask for them by a token that came in a message.

As multiprocessing.resource_sharer, with one connection between two processes that stays, so that a tensor costs one short exchange."""

import multiprocessing
import os
import secrets
import selectors
import socket
import struct
import threading
import time
from multiprocessing import util

_TOKEN_BYTES = 16
_GIVEN, _UNKNOWN = b"+", b"-"
_PAUSE_SECONDS = 0.01
_WAIT_SECONDS = 5.0  # of a child that ends, for those who ask


def _make_socket():
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _is_ours(connection):
    """Whether a process of the same user is at the other end."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", credentials)[1] == os.geteuid()


class _Giver:
    """Keeps descriptors until they are asked for, and answers from a thread of its own."""

    def __init__(self):
        self._files = {}  # token -> descriptor
        self._listener = _make_socket()
        self.address = f"\0tandem-handover-{secrets.token_hex(16)}"  # no file, gone with the process
        self._listener.bind(self.address)
        self._listener.listen(128)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        threading.Thread(target=self._run, name="tandem-handover", daemon=True).start()

    def keep(self, file):
        """Keeps a duplicate of a descriptor; gives the token that it is asked for by."""
        token = secrets.token_bytes(_TOKEN_BYTES)
        self._files[token] = os.dup(file)
        return token

    def is_done(self):
        """Whether all have been asked for."""
        return not self._files

    def forget(self):
        """Closes all that a forked child has of its parent's."""
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()
        for file in self._files.values():
            os.close(file)

    def _run(self):
        while True:
            for key, _ in self._selector.select():
                try:
                    self._accept() if key.fileobj is self._listener else self._answer(key.fileobj)
                except OSError:
                    # Who asked is gone; or no more files may be open for now.
                    time.sleep(_PAUSE_SECONDS)

    def _accept(self):
        connection, _ = self._listener.accept()
        if _is_ours(connection):
            self._selector.register(connection, selectors.EVENT_READ)
        else:
            connection.close()

    def _answer(self, connection):
        try:
            token = connection.recv(_TOKEN_BYTES)
        except OSError:
            token = b""
        if not token:
            self._selector.unregister(connection)
            connection.close()
            return
        file = self._files.get(token)
        if file is None:
            connection.send(_UNKNOWN)
            return
        try:
            socket.send_fds(connection, [_GIVEN], [file])
        finally:
            del self._files[token]
            os.close(file)


_lock = threading.RLock()
_giver = None
_connections = {}  # address -> socket to that process


def _close_ended():
    """Closes the connections to processes that have ended."""
    for address, connection in list(_connections.items()):
        try:
            ended = not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            continue
        except OSError:
            ended = True
        if ended:
            del _connections[address]
            connection.close()


def _after_fork():
    global _giver, _lock
    _lock = threading.RLock()
    if _giver is not None:
        _giver.forget()
        _giver = None
    for connection in _connections.values():
        connection.close()
    _connections.clear()


os.register_at_fork(after_in_child=_after_fork)


def _wait_until_taken():
    """At the end of a child: what it has sent is to arrive, so it waits a while for those who ask. Daemons do not."""
    parent = multiprocessing.parent_process()
    if _giver is None or parent is None or multiprocessing.current_process().daemon:
        return
    deadline = time.monotonic() + _WAIT_SECONDS
    while not _giver.is_done() and time.monotonic() < deadline and parent.is_alive():
        time.sleep(_PAUSE_SECONDS)


def _wait_at_exit(_=None):
    # After queues have sent what is in them, which has priority -5.
    util.Finalize(None, _wait_until_taken, exitpriority=-10)


_wait_at_exit()
# A forked child forgets what is to be done at the end, and calls this then.
util.register_after_fork(_wait_until_taken, _wait_at_exit)


class Handle:
    """A descriptor on its way: pickled, it is the token by which the receiver asks for it, once."""

    def __init__(self, file):
        global _giver
        with _lock:
            if _giver is None:
                _giver = _Giver()
            self._address, self._token = _giver.address, _giver.keep(file)

    def detach(self):
        """The descriptor, in this process. ConnectionError where the sender has ended, or has given it to somebody already."""
        with _lock:
            known = self._address in _connections
            try:
                return self._ask()
            except ConnectionError:
                if not known:
                    raise
            return self._ask()  # the connection that was there may have been of an older time

    def _ask(self):
        try:
            return self._exchange()
        except BaseException:
            # An answer that comes later must not be taken for that of the next question.
            connection = _connections.pop(self._address, None)
            if connection is not None:
                connection.close()
            raise

    def _exchange(self):
        connection = _connections.get(self._address)
        if connection is None:
            _close_ended()
            connection = _make_socket()
            try:
                connection.connect(self._address)
            except OSError:
                connection.close()
                raise
            _connections[self._address] = connection
        connection.send(self._token)
        answer, files, _, _ = socket.recv_fds(connection, len(_GIVEN), 1, socket.MSG_CMSG_CLOEXEC)
        if answer != _GIVEN or not files:
            raise ConnectionError("the sender has ended, or has no such descriptor any more")
        return files[0]
