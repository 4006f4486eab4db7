"""Stand-alone script that runs a command as another user, without privileges, and blocks system calls.

    python -I -S confine.py USER COMMAND ...

USER is the numeric id of the user and the group of the command; -1 keeps the current user and group. The
system calls in FORBIDDEN, and `clone` with new namespaces, fail with EPERM. `clone3` fails with ENOSYS.
Agents do not need these calls, and sandbox escapes often use them. The filter exists only for Linux and the
processors in _COLUMNS; on other systems and processors the command runs without a filter.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

SETUP_FAILED = 125
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_COLUMNS = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # architecture, column of FORBIDDEN
FORBIDDEN = {  # system call numbers on x86_64 and on aarch64
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "memfd_create": (319, 279),  # no process limit counts the memory that this call allocates
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
}
_CLONE, _CLONE3 = (56, 220), 435
_NEW_NAMESPACES = 0x7E020000  # CLONE_NEW*: mounts, cgroup, UTS, IPC, user, PID, network
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF instructions
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in `struct seccomp_data`
_FOREIGN = 0x40000000  # first system call number of the x32 interface


def main(user: int, command: list[str]) -> int:
    """Drop the privileges, then replace this process with the command; return SETUP_FAILED after an error."""
    try:
        if user >= 0:
            _become(user)
        if sys.platform == "linux":  # other systems have no `prctl`
            _forbid_privileges()
            if platform.machine() in _COLUMNS:
                _install(program(platform.machine()))
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error}", file=sys.stderr)
    return SETUP_FAILED


def _become(user: int) -> None:
    """Change the user and the group of this process, and drop all capabilities."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _forbid_privileges() -> None:
    """Prevent this process and its children from gaining privileges."""
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs cannot be set")


def program(machine: str) -> list[tuple[int, int, int, int]]:
    """Return the filter as BPF instructions: operation, jump if true, jump if false, value."""
    architecture, column = _COLUMNS[machine]
    refuse = (_RETURN, 0, 0, _FAIL | errno.EPERM)
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture),
        refuse,
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_AT_LEAST, 0, 1, _FOREIGN),
        refuse,
        (_JUMP_EQUAL, 0, 1, _CLONE3),  # filters cannot read the flags of clone3, which are in memory
        (_RETURN, 0, 0, _FAIL | errno.ENOSYS),
    ]
    for numbers in FORBIDDEN.values():
        steps += [(_JUMP_EQUAL, 0, 1, numbers[column]), refuse]
    steps += [
        (_JUMP_EQUAL, 0, 3, _CLONE[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_JUMP_ANY_BIT, 0, 1, _NEW_NAMESPACES),
        refuse,
    ]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


class _Program(ctypes.Structure):
    """Structure `sock_fprog` of Linux: a BPF program and its length."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _install(steps: list[tuple[int, int, int, int]]) -> None:
    """Install the filter for this process and its children."""
    packed = b"".join(struct.pack("HBBI", *step) for step in steps)
    wanted = _Program(len(steps), packed)
    if _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(wanted), 0, 0):
        raise OSError(ctypes.get_errno(), "the system call filter cannot be installed")


_libc = ctypes.CDLL(None, use_errno=True)

if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
