"""check.py PROJ: what is right in the end."""
import json
import pathlib
import re
import subprocess
import sys

proj = pathlib.Path(sys.argv[1])


def git(*words):
    return subprocess.run(['git', *words], cwd=proj, capture_output=True, text=True).stdout


def text(path):
    file = proj / path
    return file.read_text() if file.exists() else ''


def passes(command):
    return subprocess.run(command, cwd=proj, capture_output=True).returncode == 0


files = ['Dockerfile', 'README.md', 'config/default.yaml', 'config/production.toml', 'package.json', 'src/server.js']
old = {path: len(re.findall('8080', text(path))) for path in files}
named = [path for path in git('ls-files').split() if path.endswith(('.js', '.md')) and path != 'CHANGELOG.md']
try:
    answer = json.loads(text('answer.json'))
except ValueError:
    answer = None
report = text('logs/report.md')
log = git('log', '--format=%H').split()
commits = [set(git('show', '--format=', '--name-only', commit).split()) for commit in log[:-1]]
configuration = {'Dockerfile', 'config/default.yaml', 'config/production.toml', 'package.json'}
changes = text('CHANGELOG.md').partition('## 0.4.1')[0].partition('### Changed')[2]


def runs_server(process):
    try:
        words = (process / 'cmdline').read_bytes().split(b'\0')
        return any(word.endswith(b'server.js') for word in words) and (process / 'cwd').resolve() == proj.resolve()
    except OSError:
        return False


for what, right in {
    'W1: the port is 9090, and other meanings of 8080 stay': old == dict.fromkeys(files, 0) | {
        'config/default.yaml': 1, 'config/production.toml': 1,
    } and sum(text(path).count('9090') for path in files) == 8,
    'W2: no file names fetchBook': not any('fetchBook' in text(path) for path in named) and 'getBook' in text('README.md'),
    'W3: listBooks has a limit': re.search(r'listBooks\(offset, limit = 20\)', text('src/store.js')) is not None,
    'W4: the dates have a module': 'laterDay' in text('src/dates.js') and 'isoDay' in text('src/dates.js')
    and 'Day' not in text('src/text.js') and '/** A date as' in text('src/dates.js'),
    'W5: what nobody uses is gone': 'ellipsis' not in text('src/text.js') and 'countBooks' not in text('src/store.js')
    and 'returnBook' in text('src/loans.js') and 'clearBooks' in text('src/store.js'),
    'W6: the tests pass and are the same': passes(['node', '--test', 'test/'])
    and "addBook('two  spaces', 'x').title, 'Two  Spaces'" in text('test/store.test.js'),
    'W6: the answer is noted': isinstance(answer, list) and len(answer) == 1,
    'W6: the server was stopped': not any(runs_server(p) for p in pathlib.Path('/proc').glob('[0-9]*')),
    'W7: the changes are listed': len(re.findall('^- ', changes, re.M)) == 3,
    'W8: the report is right': all(word in report for word in ['394', '207', '00:17:44', '11:02:35', '05:35:30', '08:19:14']),
    'W9: two commits': len(commits) == 2 and commits[1] == configuration and not any('logs/' in path for path in commits[0]),
}.items():
    print('right' if right else 'WRONG', '·', what)
