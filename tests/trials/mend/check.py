"""check.py PROJ: what is right in the end."""
import pathlib
import subprocess
import sys

proj = pathlib.Path(sys.argv[1])


def passes(command, where):
    return subprocess.run(command, cwd=proj / where, capture_output=True).returncode == 0


def untouched(folder):
    return subprocess.run(['git', 'diff', '--quiet', 'HEAD', '--', folder], cwd=proj).returncode == 0


answer = proj / 'answer.txt'
said = answer.read_text().strip() if answer.exists() else ''


def runs_server(process):
    try:
        words = (process / 'cmdline').read_bytes().split(b'\0')
        return any(word.endswith(b'server.py') for word in words) and (process / 'cwd').resolve() == proj.resolve()
    except OSError:
        return False


running = any(runs_server(process) for process in pathlib.Path('/proc').glob('[0-9]*'))
for what, right in {
    'the crate passes its tests': passes(['cargo', 'test', '-q', '--offline'], 'inventory'),
    'the package passes its tests': passes([sys.executable, '-m', 'unittest', '-q'], 'ledger'),
    'no test was changed': untouched('inventory/tests') and untouched('ledger/tests'),
    'the answer is noted': said == 'the total of 3 numbers is 12',
    'the server was stopped': not running,
}.items():
    print('right' if right else 'WRONG', '·', what)
