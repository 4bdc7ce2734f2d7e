# setup.sh DIR: a crate and a package with five planted errors each, and a server.
p=$1/proj; mkdir -p "$p/inventory/src" "$p/inventory/tests" "$p/ledger/ledger" "$p/ledger/tests"
# The programs' homes are the trial's own: a toolchain is found in the caller's.
mkdir -p "$1/home"; for d in .rustup .cargo; do [ -e "$HOME/$d" ] && ln -sfn "$HOME/$d" "$1/home/$d"; done
printf 'target\nCargo.lock\n__pycache__\n' > "$p/.gitignore"
cat > "$p/inventory/Cargo.toml" <<'X'
[package]
name = "inventory"
version = "0.1.0"
edition = "2021"
X
cat > "$p/inventory/src/lib.rs" <<'X'
//! What a small shop has in store.

pub mod order;
pub mod report;
pub mod stock;

pub use order::Order;
pub use stock::{Item, Stock};
X
cat > "$p/inventory/src/stock.rs" <<'X'
//! Items and how many there are of each.

use std::collections::BTreeMap;

/// A kind of thing that is sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub name: String,
    /// In cents.
    pub price: u64,
}

/// What is in store.
#[derive(Debug, Default)]
pub struct Stock {
    items: BTreeMap<String, (Item, u32)>,
}

impl Stock {
    /// Adds some of an item; a second time the numbers are summed.
    pub fn add(&mut self, item: Item, count: u32) {
        let entry = self.items.entry(item.name).or_insert((item.clone(), 0));
        entry.1 += count;
    }

    /// Takes some of an item away, if there are enough.
    pub fn take(&mut self, name: &str, count: u32) -> Result<(), String> {
        let Some((_, left)) = self.items.get_mut(name) else {
            return Err(format!("there is no {name}"));
        };
        if *left <= count {
            return Err(format!("only {left} of {name} are left"));
        }
        *left -= count;
        Ok(())
    }

    /// How many there are of an item.
    pub fn count(&self, name: &str) -> u32 {
        self.items.get(name).map(|(_, count)| *count)
    }

    /// The item of a name.
    pub fn item(&self, name: &str) -> Option<&Item> {
        self.items.get(name).map(|(item, _)| item)
    }

    /// The value of all items, in cents.
    pub fn value(&self) -> u64 {
        self.items.values().map(|(item, count)| item.price + u64::from(*count)).sum()
    }

    /// All items with their numbers, by name.
    pub fn all(&self) -> impl Iterator<Item = (&Item, u32)> {
        self.items.values().map(|(item, count)| (item, *count))
    }
}
X
cat > "$p/inventory/src/order.rs" <<'X'
//! Orders.

use crate::stock::Stock;

/// What somebody wants to buy.
#[derive(Debug, Default)]
pub struct Order {
    lines: Vec<(String, u32)>,
}

impl Order {
    /// Adds a line.
    pub fn with(mut self, name: &str, count: u32) -> Self {
        self.lines.push((name.to_owned(), count));
        self
    }

    /// The price in cents: from ten pieces of a kind on a tenth less.
    pub fn price(&self, stock: &Stock) -> Result<u64, String> {
        let mut sum = 0;
        for (name, count) in &self.lines {
            let item = stock.item(name).ok_or(format!("there is no {name}"))?;
            let full = item.price * u64::from(*count);
            sum += if *count > 10 { full - full / 10 } else { full };
        }
        Ok(sum)
    }

    /// Takes all lines from the stock, or none of them.
    pub fn fulfil(&self, stock: &mut Stock) -> Result<(), String> {
        for (name, count) in &self.lines {
            if stock.count(name) < *count {
                return Err(format!("too few of {name}"));
            }
        }
        for (name, count) in &self.lines {
            stock.take(name, *count)?;
        }
        Ok(())
    }
}
X
cat > "$p/inventory/src/report.rs" <<'X'
//! Lists for people.

use crate::stock::Stock;

/// One line an item: name, number, and what a piece costs.
pub fn table(stock: &Stock) -> String {
    let mut out = String::new();
    for (item, count) in stock.all() {
        out += format!("{:<12}{:>5}  {}\n", item.name, count, money(item.price));
    }
    out
}

/// An amount in cents as people write it: `12.05`.
pub fn money(cents: u64) -> String {
    format!("{}.{}", cents / 100, cents % 100)
}
X
cat > "$p/inventory/tests/shop.rs" <<'X'
use inventory::report::{money, table};
use inventory::{Item, Order, Stock};

fn item(name: &str, price: u64) -> Item {
    Item { name: name.to_owned(), price }
}

fn stock() -> Stock {
    let mut stock = Stock::default();
    stock.add(item("nail", 5), 100);
    stock.add(item("hammer", 1999), 2);
    stock.add(item("nail", 5), 50);
    stock
}

#[test]
fn numbers_are_summed() {
    assert_eq!(stock().count("nail"), 150);
    assert_eq!(stock().count("saw"), 0);
}

#[test]
fn last_piece_can_be_taken() {
    let mut stock = stock();
    stock.take("hammer", 2).unwrap();
    assert_eq!(stock.count("hammer"), 0);
    assert!(stock.take("hammer", 1).is_err());
}

#[test]
fn value_is_price_times_number() {
    assert_eq!(stock().value(), 150 * 5 + 2 * 1999);
}

#[test]
fn ten_pieces_are_cheaper() {
    let stock = stock();
    assert_eq!(Order::default().with("nail", 9).price(&stock), Ok(45));
    assert_eq!(Order::default().with("nail", 10).price(&stock), Ok(45));
}

#[test]
fn order_is_fulfilled_whole_or_not_at_all() {
    let mut stock = stock();
    let order = Order::default().with("nail", 10).with("hammer", 3);
    assert!(order.fulfil(&mut stock).is_err());
    assert_eq!(stock.count("nail"), 150);
}

#[test]
fn amounts_have_two_digits_of_cents() {
    assert_eq!(money(1205), "12.05");
    assert!(table(&stock()).contains("hammer          2  19.99\n"));
}
X
touch "$p/ledger/ledger/__init__.py" "$p/ledger/tests/__init__.py"
cat > "$p/ledger/ledger/entries.py" <<'X'
"""Entries of a ledger, and how they are read."""
from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True)
class Entry:
    day: date
    account: str
    amount: Decimal
    note: str = ''


def parse(line):
    """Reads `2024-02-29;cash;-12.50;a note`, of which the note may be left out."""
    day, account, amount, note = line.strip().split(';')
    return Entry(date.fromisoformat(day), account, Decimal(amount), note)


def parse_all(text):
    """Reads an entry a line; empty lines and those behind # are no entries."""
    return [parse(line) for line in text.splitlines() if line and not line.startswith('#')]
X
cat > "$p/ledger/ledger/book.py" <<'X'
"""Sums over entries."""
from decimal import Decimal

from .entry import Entry


class Book:
    def __init__(self, entries=[]):
        self.entries = entries

    def add(self, entry: Entry):
        self.entries.append(entry)

    def balance(self, account):
        return sum((e.amount for e in self.entries if e.account == account), Decimal(0))

    def months(self):
        """By month (`2024-02`): the sum of all accounts."""
        sums = {}
        for e in self.entries:
            key = f'{e.day.year}-{e.day.month}'
            sums[key] = sums.get(key, Decimal(0)) + e.amount
        return sums

    def overdrawn(self):
        """The accounts below zero, by name."""
        accounts = {e.account for e in self.entries}
        return sorted(a for a in accounts if self.balance(a) <= 0)
X
cat > "$p/ledger/tests/test_ledger.py" <<'X'
import unittest
from datetime import date
from decimal import Decimal

from ledger.book import Book
from ledger.entries import Entry, parse, parse_all

TEXT = """# year's end
2024-12-31;cash;-12.50;stamps

2025-01-02;bank;100
   \t
2025-01-03;cash;12.50;
"""


class Reading(unittest.TestCase):
    def test_note_may_be_left_out(self):
        self.assertEqual(parse('2025-01-02;bank;100'), Entry(date(2025, 1, 2), 'bank', Decimal(100)))

    def test_blank_lines_are_no_entries(self):
        self.assertEqual(len(parse_all(TEXT)), 3)


class Sums(unittest.TestCase):
    def test_books_share_nothing(self):
        Book().add(parse('2025-01-02;bank;100;'))
        self.assertEqual(Book().balance('bank'), 0)

    def test_months_have_two_digits(self):
        book = Book(parse_all('2025-01-02;bank;100;\n2024-12-31;cash;-1;'))
        self.assertEqual(book.months(), {'2025-01': Decimal(100), '2024-12': Decimal(-1)})

    def test_zero_is_not_overdrawn(self):
        book = Book(parse_all('2024-12-31;cash;-12.50;\n2025-01-03;cash;12.50;\n2025-01-04;bank;-1;'))
        self.assertEqual(book.overdrawn(), ['bank'])
X
cat > "$p/server.py" <<'X'
"""A server that sums: GET /total?of=1,2,3."""
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlparse


class Sums(BaseHTTPRequestHandler):
    def do_GET(self):
        asked = urlparse(self.path)
        numbers = [int(n) for n in parse_qs(asked.query).get('of', ['0'])[0].split(',')]
        body = f'the total of {len(numbers)} numbers is {sum(numbers)}'.encode()
        self.send_response(200 if asked.path == '/total' else 404)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = HTTPServer(('127.0.0.1', 0), Sums)
print(f'listening on http://127.0.0.1:{server.server_port}', flush=True)
server.serve_forever()
X
