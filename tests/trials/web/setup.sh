# setup.sh DIR: a Node project with tests, configuration in several languages, and a log of 40,000 lines.
mkdir -p "$1/proj"; cd "$1/proj" || exit 1
python3 - <<'P'
import os, random
def w(p, s):
    os.makedirs(os.path.dirname(p) or '.', exist_ok=True); open(p, 'w').write(s)
w('package.json', '''{
  "name": "shelf",
  "version": "0.4.1",
  "private": true,
  "type": "module",
  "scripts": {
    "test": "node --test test/",
    "start": "PORT=8080 node src/server.js"
  },
  "config": { "port": 8080, "pageSize": 20 }
}
''')
w('config/default.yaml', '''# What a fresh installation uses.
server:
  host: 127.0.0.1
  port: 8080
  timeout: 8080   # milliseconds, not a port
log:
  level: info
  file: logs/server.log
books:
  page_size: 20
''')
w('config/production.toml', '''[server]
host = "0.0.0.0"
port = 8080

[database]
url = "postgres://db:5432/shelf"

[[cache]]
name = "pages"
seconds = 8080
''')
w('Dockerfile', '''FROM node:22
COPY . /app
WORKDIR /app
EXPOSE 8080
HEALTHCHECK CMD curl -f http://localhost:8080/health
CMD ["node", "src/server.js"]
''')
w('README.md', '''# Shelf

Lends books.

## Start

    npm start

The server listens on port 8080; set `PORT` for another one.

## API

- `GET /books?limit=20` lists books: see `listBooks`.
- `GET /books/ID` shows one: see `fetchBook`.
- `POST /books/ID/loan` lends it: see `lendBook`.
''')
w('CHANGELOG.md', '''# Changelog

## Unreleased

### Fixed

- Titles with quotes are escaped.

## 0.4.1

### Added

- Loans have an end.
''')
w('test/fixtures/request.http', 'GET /books HTTP/1.1\nHost: old.example:8080\n\n')
w('src/store.js', '''// Books in memory.
import { slug, titleCase } from './text.js';

const books = new Map();

export function addBook(title, author) {
  const book = { id: slug(title), title: titleCase(title), author, lent: null };
  books.set(book.id, book);
  return book;
}

export function fetchBook(id) {
  const book = books.get(id);
  if (!book) throw new Error(`no book ${id}`);
  return book;
}

export function listBooks(offset) {
  return [...books.values()].slice(offset, offset + 20);
}

export function clearBooks() {
  books.clear();
}

export function countBooks() {
  return books.size;
}
''')
w('src/text.js', '''// Texts.

/** An id made of a title: `the-old-man`. */
export function slug(text) {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
}

/** Every word with a capital. */
export function titleCase(text) {
  return text.split(' ').map((word) => word[0].toUpperCase() + word.slice(1)).join(' ');
}

/** Cuts a text that is longer than `length`. */
export function ellipsis(text, length) {
  return text.length > length ? text.slice(0, length - 1) + '…' : text;
}

/** A date as `2024-02-29`. */
export function isoDay(date) {
  return date.toISOString().slice(0, 10);
}

/** The day `days` days later. */
export function laterDay(date, days) {
  return new Date(date.getTime() + days * 24 * 3600 * 1000);
}
''')
w('src/loans.js', '''// Loans.
import { fetchBook } from './store.js';
import { isoDay, laterDay } from './text.js';

/** Lends a book; fetchBook throws if there is none. */
export function lendBook(id, reader, today) {
  const book = fetchBook(id);
  if (book.lent) throw new Error(`${id} is lent`);
  book.lent = { reader, until: isoDay(laterDay(today, 14)) };
  return book.lent;
}

export function returnBook(id) {
  fetchBook(id).lent = null;
}

export function overdue(books, today) {
  return books.filter((book) => book.lent && book.lent.until < isoDay(today));
}
''')
w('src/server.js', '''// The HTTP server.
import { createServer } from 'node:http';
import { addBook, fetchBook, listBooks } from './store.js';
import { lendBook } from './loans.js';

addBook('the old man and the sea', 'Hemingway');
addBook('ulysses', 'Joyce');

export const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const [, kind, id, verb] = url.pathname.split('/');
  try {
    if (kind === 'health') return answer(response, 200, { ok: true });
    if (kind !== 'books') return answer(response, 404, { error: `no ${kind}` });
    if (verb === 'loan') return answer(response, 200, lendBook(id, 'web', new Date()));
    if (id) return answer(response, 200, fetchBook(id));
    return answer(response, 200, listBooks(Number(url.searchParams.get('offset') ?? 0)));
  } catch (error) {
    answer(response, 404, { error: error.message });
  }
});

function answer(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  server.listen(Number(process.env.PORT ?? 8080), () => console.log(`listening on ${server.address().port}`));
}
''')
w('test/store.test.js', '''import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { addBook, clearBooks, fetchBook, listBooks } from '../src/store.js';
import { lendBook, overdue } from '../src/loans.js';
import { isoDay } from '../src/text.js';

beforeEach(clearBooks);

test('a book is found by its id', () => {
  addBook('the old man', 'Hemingway');
  assert.equal(fetchBook('the-old-man').title, 'The Old Man');
});

test('pages have twenty books', () => {
  for (let n = 0; n < 50; n++) addBook(`book ${n}`, 'x');
  assert.equal(listBooks(0).length, 20);
  assert.equal(listBooks(40).length, 10);
});

test('a loan lasts two weeks', () => {
  addBook('ulysses', 'Joyce');
  assert.equal(lendBook('ulysses', 'me', new Date('2024-02-20')).until, '2024-03-05');
  assert.equal(overdue([fetchBook('ulysses')], new Date('2024-03-06')).length, 1);
});

test('two spaces in a title', () => {
  assert.equal(addBook('two  spaces', 'x').title, 'Two  Spaces');
});
''')
random.seed(7)
paths = ['/books', '/books/ulysses', '/books/ulysses/loan', '/books/emma', '/health']
os.makedirs('logs', exist_ok=True)
with open('logs/server.log', 'w') as f:
    t = 0
    for n in range(40000):
        t += random.randint(0, 2)
        p = random.choices(paths, [30, 20, 4, 10, 36])[0]
        status = 200
        if p == '/books/emma' and 1000 < n: status = random.choices([200, 502], [9, 1])[0]
        if p == '/books/ulysses/loan' and 20000 < n < 30000: status = random.choices([200, 500], [1, 1])[0]
        f.write(f'2026-03-01T{t//3600:02}:{t//60%60:02}:{t%60:02}Z {"ERROR" if status >= 500 else "INFO"} {status} {p} {random.randint(1, 90)}ms\n')
P
