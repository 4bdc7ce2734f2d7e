#!/usr/bin/env python3
"""Measures what it costs to run a command that prints a lot in the app `terminal`: its time beside `cat > file` and
beside a terminal whose output nobody keeps, and the memory of the app. The programs are in the directory that
PIPEMUX_BIN names, by default `target/release`. Compare figures only within one run.

    tests/bench/output.py [MEGABYTES [ROUNDS]]
"""
import os
import pathlib
import pty
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get('PIPEMUX_BIN', ROOT / 'target/release')).resolve()
MEGABYTES = int(sys.argv[1]) if len(sys.argv) > 1 else 100
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5

BUILD = ''.join(f'   Compiling crate{n} v0.{n}.1 (/src/crate{n})\n' for n in range(300)) + '''\
warning: unused variable: `extra`
 --> src/lib.rs:2:41
  |
2 | pub fn add(a: i32, b: i32) -> i32 { let extra = 1; a + b }
  |                                         ^^^^^ help: prefix it with an underscore: `_extra`

error[E0308]: mismatched types
 --> src/lib.rs:6:5
  |
6 |     sum
  |     ^^^ expected `u32`, found `String`

'''


def log_lines():
    for n in range(1_000_000):
        yield f'2026-01-0{n % 9 + 1}T12:00:{n % 60:02} INFO service::worker request {n * 7919 % 1_000_003} took {n % 97} ms\n'


def repeated(text, size):
    data = text.encode()
    return (data * (size // len(data) + 1))[:size]


def inputs(size):
    log = ''.join(log_lines())
    return {
        'a build, again and again': repeated(BUILD, size),
        'lines of a log': repeated(log, size),
        'a progress bar in one line': repeated(''.join(f'\r{n} % of all that is to be done' for n in range(100)), size),
        'one line without an end': repeated('x' * 65_536, size),
        'random bytes': repeated(os.urandom(1 << 20).decode('latin1'), size)[:size],
    }


def to_file(source, target):
    with open(target, 'wb') as out:
        subprocess.run(['cat', source], stdout=out, check=True)


def to_nowhere(source, _):
    """A terminal of the system, whose output is read and dropped."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(['cat', source], stdout=follower)
    os.close(follower)
    try:
        while os.read(leader, 65_536):
            pass
    except OSError:
        pass
    os.close(leader)
    process.wait()


def timed(work, *args):
    began = time.monotonic()
    work(*args)
    return time.monotonic() - began


def status(pid, field):
    text = pathlib.Path(f'/proc/{pid}/status').read_text()
    return int(re.search(rf'{field}:\s+(\d+)', text)[1])


def main():
    with tempfile.TemporaryDirectory(prefix='pmx-') as folder:
        folder = pathlib.Path(folder)
        for name in ['home', 'run', 'project']:
            (folder / name).mkdir(parents=True)
        (folder / 'run').chmod(0o700)
        env = {'HOME': str(folder / 'home'), 'XDG_RUNTIME_DIR': str(folder / 'run'), 'PATH': os.environ['PATH']}

        def pipemux(*args):
            done = subprocess.run([BIN / 'pipemux', *args], cwd=folder / 'project', env=env, capture_output=True, text=True)
            return done.stdout + done.stderr

        def in_terminal(source, _):
            answer = pipemux('run', f"terminal.run('cat {source}')")
            while 'job c' in answer and 'started' in answer or 'still runs' in answer:
                job = re.search(r'job:(c\d+)', answer)[1]
                answer = pipemux('read', f'job:{job}', '--wait', '60')
            if 'exit 0' not in answer:
                raise SystemExit(answer)

        def app():
            for entry in pathlib.Path('/proc').glob('[0-9]*'):
                try:
                    words = (entry / 'cmdline').read_bytes().split(b'\0')
                    if words[0].endswith(b'pipemux-terminal') and f'{folder}'.encode() in (entry / 'environ').read_bytes():
                        return entry.name
                except OSError:
                    pass
            raise SystemExit('there is no pipemux-terminal')

        pipemux('run', "terminal.run('true')")
        idle = status(app(), 'VmHWM')
        print(f'{MEGABYTES} MB, median of {ROUNDS} rounds in turn; memory: the most that the app ever had ({idle / 1024:.1f} MiB before)\n')
        print('| output | `cat > file` ms | terminal, dropped | `terminal.run` | memory MiB |\n|---|---:|---:|---:|---:|')
        for name, data in inputs(MEGABYTES * 1_000_000).items():
            source = folder / 'input'
            source.write_bytes(data)
            # A session of its own has a memory of its own.
            pipemux('end', 'terminal/main')
            pipemux('run', "terminal.run('true')")
            ways = [to_file, to_nowhere, in_terminal]
            times = [[timed(way, source, folder / 'output') for way in ways] for _ in range(ROUNDS)]
            cat, dropped, ran = (statistics.median(column) for column in zip(*times))
            peak = status(app(), 'VmHWM')
            print(f'| {name} | {cat * 1000:.0f} | {dropped / cat:.2f} | {ran / cat:.2f} | {peak / 1024:.1f} |', flush=True)
        pipemux('down')


main()
