"""Try to escape from a sandbox: `escapes.py FACTS` prints the result of every attempt. Linux only.

FACTS is a JSON object with the objects that the test has prepared outside the sandbox. The output is a JSON
object. `False` means that an attempt failed. Any other value is the result of a successful attempt.
"""

import ctypes
import json
import os
import socket
import sys

FACTS = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, NEW_USER, REMOUNT, BIND = 16, 0x10000000, 32, 4096
KEYCTL, KEY_READ, SESSION = 250, 11, -3


def call(name, *arguments):
    """Return True if a function of the C library succeeds."""
    return getattr(libc, name)(*arguments) >= 0


def read(path):
    with open(path, "rb") as file:
        return repr(file.read(10_000))


def write(path):
    """Return True if a file can be opened for writing, or created.

    Nothing is written.
    """
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
    return True


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as found:
        found.settimeout(1)
        found.connect(address)
    return True


def fill(folder):
    """Return the MiB that can be written in a folder, at most 1,024."""
    for number in range(1024):
        try:
            with open(f"{folder}/{number}", "wb") as file:
                file.write(bytes(1 << 20))
        except OSError:
            os.remove(f"{folder}/{number}")
            for other in range(number):
                os.remove(f"{folder}/{other}")
            return number
    return 1024


def new_namespace():
    """Return True if a child process gets a user namespace by `clone`."""
    child = libc.syscall(56, NEW_USER | 17, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    return child > 0


ATTEMPTS = {
    "remount": lambda: call("mount", None, b"/", None, REMOUNT | BIND, None),
    "mount": lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    "unmount": lambda: call("umount2", b"/proc/sys", 2),
    "chroot": lambda: os.chroot("/tmp") is None,
    "unshare": lambda: call("unshare", NEW_USER),
    "clone": new_namespace,
    "ptrace": lambda: call("ptrace", PTRACE_ATTACH, 1, None, None),
    "become root": lambda: os.setuid(0) is None,
    "kill": lambda: os.kill(FACTS["host"], 0) is None,
    "keyring": lambda: libc.syscall(KEYCTL, KEY_READ, SESSION, 0, 0) >= 0,
    "hidden memory": lambda: os.memfd_create("hidden") > 0,
    "terminal": lambda: os.open("/dev/tty", os.O_RDWR) > 0,
    "environment": lambda: os.environ.get("SECRET_KEY", False),
    "environment of the first process": lambda: "SECRET_KEY" in read("/proc/1/environ"),
    "network": lambda: connect(socket.AF_INET, ("127.0.0.1", FACTS["port"])),
    "abstract socket": lambda: connect(socket.AF_UNIX, f"\0{FACTS['socket']}"),
    "system": lambda: os.path.exists("/sys/kernel"),
    **{f"read {path}": lambda path=path: read(path) for path in FACTS["read"]},
    **{f"write {path}": lambda path=path: write(path) for path in FACTS["write"]},
}


def outcome(attempt):
    try:
        return attempt()
    except OSError:
        return False


def main():
    found = {name: outcome(attempt) for name, attempt in ATTEMPTS.items()}
    found["user"] = os.getuid()
    found["filled"] = {folder: fill(folder) for folder in ("/tmp", "/dev/shm")}
    with open("/proc/self/status") as status:
        found["capabilities"] = sum(
            int(line.split()[1], 16) for line in status if line.startswith(("CapP", "CapE"))
        )
    print(json.dumps(found), flush=True)


main()
