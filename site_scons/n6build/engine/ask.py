"""Answers to calls, in place of a build that would do nothing.

The same call did nothing before, and all files that it looked at are unchanged.

    .venv/bin/python -I -S site_scons/n6build/engine/ask.py .venv/bin/scons -Q board=nucleo-n657 build
    .venv/bin/python -I -S site_scons/n6build/engine/ask.py n6build build --board nucleo-n657

Exit status: 0 with the output of the build, or 1 without output if the build itself has to run.
Anything unexpected is a reason to let the build run, so that nothing here is an error.
`n6build.engine.keep` writes the files that are read here.

The interpreter starts in a few milliseconds, which any import from its library would double: this
module imports only built-in modules, and fcntl and _blake2 (that of hashlib), which are in C as
well.
"""

import sys

if sys.platform != "win32":
    import posix

# The first word of a call that needs no SCons.
COMMAND = "n6build"
# Folder of all build products if a call names no other.
_BUILD = "build"
ABSENT = b"-"
_MAGIC = b"n6build front 1\n"
# The answer for a build of 60 networks has 600 KB.
_LARGEST = 16 << 20
# These variables differ in every shell, every call and every make, and no build depends on them.
_PASSING = (b"_", b"OLDPWD", b"SHLVL", b"MAKEFLAGS", b"MFLAGS", b"MAKELEVEL", b"MAKE_TERMOUT", b"MAKE_TERMERR")
_KIND, _REGULAR = 0o170000, 0o100000
# Only letters, line breaks and the colours of n6build.base.console reach a terminal from a file.
_COLOURS = (b"\x1b[36m", b"\x1b[0m")
_PRINTABLE = bytes({*range(32, 256)} - {127}) + b"\n"


def answer(words: list[str]) -> bytes | None:
    """Return the output that the build would print, None if the build has to run.

    Args:
        words: Words of the call, the program first.
    """
    if sys.platform == "win32":
        return None
    try:
        call, folder = call_of(words), folder_of(words)
        told, looked = understood(_content(file_of(call, folder)), call)
        # The build would wait for another one in the same folder.
        if not _is_in_use(folder) and all(state_of(path, state) == state for state, path in looked):
            return told
    except (OSError, ValueError, ImportError):
        pass
    return None


def call_of(words: list[str]) -> bytes:
    """Return a digest of all that a call consists of.

    This is words, folder, user, variables, the library, and whether the output goes to a terminal.
    It is a digest, since variables may hold passwords.
    """
    # `n6build` and `python -m n6build` are one call.
    program = [sys.executable] if words[:1] == [COMMAND] else []
    encoded = [_encoded(word) for word in (*program, *words)]
    variables = sorted(name + b"=" + value for name, value in posix.environ.items() if name not in _PASSING)
    own = posix.stat(__file__)
    facts = (posix.geteuid(), posix.isatty(1), own.st_ino, own.st_dev)
    place = [posix.getcwdb(), b"user %d terminal %d library %d %d" % facts]
    return _digest(b"\0".join([*place, *(b"word " + word for word in encoded), *variables]))


def _encoded(word: str) -> bytes:
    return word.encode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())


def folder_of(words: list[str]) -> bytes:
    """Return the place of n6build's own files in the build folder of the call."""
    build = _BUILD
    for number, word in enumerate(words[:-1] if words[:1] == [COMMAND] else ()):
        if word == "--build":
            build = words[number + 1]
    return _encoded(build) + b"/.n6build"


def file_of(call: bytes, folder: bytes) -> bytes:
    """Return the file with the answer to a call.

    Args:
        call: Digest of `call_of`.
        folder: Folder of `folder_of`.
    """
    return folder + b"/front/" + call


def state_of(path: bytes, like: bytes = b"") -> bytes:
    """Return a state that another content of the file or folder does not have.

    It has inode, size, times of modification and of change in ns. Permissions, links and mounts do
    not change without the last one, which cannot be set.

    Args:
        path: The file or folder.
        like: A state that begins with '/', which holds as long as a folder is the same one.

    Raises:
        OSError: The state cannot be found out.
    """
    try:
        found = posix.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    if like[:1] == b"/":
        return b"/%d %d" % (found.st_ino, found.st_dev)
    return b"%d %d %d %d" % (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def written(call: bytes, told: bytes, looked: list[tuple[bytes, bytes]]) -> bytes:
    """Return an answer as the content of a file.

    Args:
        call: Digest of `call_of`.
        told: Output of the build.
        looked: State and path of all that the build looked at; a relative path starts in the folder
            of the call.
    """
    body = b"\0\0".join([call, told, b"\0".join(field for pair in looked for field in pair)])
    return b"%s%s\n%s" % (_MAGIC, _digest(body), body)


def understood(data: bytes, call: bytes) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """Return the output and the states that `written` got for this call.

    Raises:
        ValueError: The file is damaged, or belongs to another call.
    """
    begin = len(_MAGIC) + 33
    body = data[begin:]
    if data[:begin] != b"%s%s\n" % (_MAGIC, _digest(body)):
        raise ValueError("damaged, or of another version")
    known, told, looked = body.split(b"\0\0")
    fields = looked.split(b"\0")
    plain = told
    for colour in _COLOURS:
        plain = plain.replace(colour, b"")
    if known != call or len(fields) % 2 or plain.translate(None, _PRINTABLE):
        raise ValueError("not the answer to this call")
    return told, list(zip(fields[::2], fields[1::2], strict=True))


def _content(path: bytes) -> bytes:
    """Return the content of a file of this user that is not too large.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not such a file.
    """
    # The path may name a pipe by now, which must not block.
    handle = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    try:
        found = posix.fstat(handle)
        if found.st_mode & _KIND != _REGULAR or found.st_uid != posix.geteuid() or found.st_size > _LARGEST:
            raise ValueError("not what was written here")
        return posix.read(handle, _LARGEST)
    finally:
        posix.close(handle)


def _digest(data: bytes) -> bytes:
    """Return 32 hexadecimal digits.

    Raises:
        ImportError: This Python has no such module.
    """
    from _blake2 import blake2b

    return blake2b(data, digest_size=16).hexdigest().encode()


def _is_in_use(folder: bytes) -> bool:
    """Return whether a build holds the lock of the folder (n6build.engine.lock)."""
    from fcntl import LOCK_NB, LOCK_SH, flock

    handle = posix.open(folder + b"/lock", posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    try:
        flock(handle, LOCK_SH | LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        posix.close(handle)
    return False


def tell(told: bytes) -> bool:
    """Print an answer, and return whether that was possible."""
    try:
        while told:
            told = told[posix.write(1, told) :]
    except OSError:
        return False
    return True


if __name__ == "__main__":
    found = answer(sys.argv[1:])
    # This is not sys.exit(), with which the interpreter takes time to tidy up, though there is nothing to tidy.
    posix._exit(0 if found is not None and tell(found) else 1)
