//! What each kind of answer costs, on a small project that never changes: an answer that grows is
//! noticed.
//!
//! `snapshots/it__answer_tokens__…` has a table of tokens and then the texts themselves. A change
//! that makes an answer longer changes the table: accept it (`INSTA_UPDATE=always`) only when what
//! was added saves an agent a call.

use std::fmt::Write;

use pipemux_tests::TestEnv;
use pipemux_tokens::estimate;

const SHELF: &str = "\
//! A shelf of books.

use crate::book::Book;

/// Books in the order in which they were put there.
pub struct Shelf {
    books: Vec<Book>,
    limit: usize,
}

impl Shelf {
    /// Returns an empty shelf.
    pub fn new(limit: usize) -> Self {
        Self { books: Vec::new(), limit }
    }

    /// Puts a book at the end. The limit holds.
    pub fn put(&mut self, book: Book) -> bool {
        if self.books.len() >= self.limit {
            return false;
        }
        self.books.push(book);
        true
    }

    /// Returns how many pages all books have.
    pub fn pages(&self) -> usize {
        let mut total = 0;
        for book in &self.books {
            total += book.pages;
        }
        total
    }

    /// Returns the titles, sorted.
    pub fn titles(&self) -> Vec<String> {
        let mut titles = Vec::new();
        for book in &self.books {
            titles.push(book.title.clone());
        }
        titles.sort();
        titles
    }
}
";

const BOOK: &str = "\
/// A book.
#[derive(Clone)]
pub struct Book {
    pub title: String,
    pub pages: usize,
}

impl Book {
    /// Returns a book without pages.
    pub fn empty(title: &str) -> Self {
        Self { title: title.to_owned(), pages: 0 }
    }
}
";

const MAIN: &str = "\
mod book;
mod shelf;

fn main() {
    let mut shelf = shelf::Shelf::new(2);
    shelf.put(book::Book::empty(\"Emma\"));
    // The pages of all books.
    println!(\"{} pages: {:?}\", shelf.pages(), shelf.titles());
}
";

/// Answers with what they cost.
struct Answers {
    env: TestEnv,
    table: String,
    texts: String,
}

impl Answers {
    fn new() -> Self {
        let env = TestEnv::new();
        for (path, text) in [("shelf.rs", SHELF), ("book.rs", BOOK), ("main.rs", MAIN)] {
            std::fs::create_dir_all(env.path("src")).expect("a folder");
            env.write(&format!("src/{path}"), text);
        }
        Self { env, table: String::new(), texts: String::new() }
    }

    #[track_caller]
    fn add(&mut self, what: &str, args: &[&str], exit: i32) {
        let output = self.env.pipemux(args);
        let root = self.env.root().display().to_string();
        let text = output.exits(exit).to_string().replace(&root, "$ROOT");
        let _ = writeln!(self.table, "{:>5}  {what}", estimate(&text));
        let _ = write!(self.texts, "# {what}\n{text}\n\n");
    }

    #[track_caller]
    fn run(&mut self, what: &str, code: &str) {
        self.add(what, &["run", code], 0);
    }

    #[track_caller]
    fn ask(&mut self, what: &str, code: &str) {
        self.add(what, &["ask", code], 0);
    }

    /// The table, then the texts.
    fn whole(self) -> String {
        format!("tokens  answer\n{}\n{}", self.table, self.texts.trim_end())
    }
}

#[test]
fn queries_have_these_sizes() {
    let mut all = Answers::new();
    all.ask("find", "editor.find('books')");
    all.ask("find, counted", "editor.find('books', count=true)");
    all.ask("find, filtered", "editor.find('pages', word=true, only='code')");
    all.ask("find nothing", "editor.find('nowhere')");
    all.ask("outline of the project", "editor.outline()");
    all.ask("lines of a symbol", "editor.lines('Shelf::put')");
    all.ask("lines of a range", "editor.lines('src/main.rs:4-6')");
    all.ask("heads of files", "editor.lines('src/*.rs', 1, 2)");
    all.ask("several queries", "editor.find('fn put'); editor.lines('Book::empty')");
    insta::assert_snapshot!(all.whole());
}

#[test]
fn edits_have_these_sizes() {
    let mut all = Answers::new();
    all.run(
        "replace all",
        "editor.replace('pages', 'leaves', in='src', word=true, only='code', all=true)",
    );
    all.run("undo over files", "editor.undo()");
    all.add("replace asks", &["run", "editor.replace('total', 'sum', in='src/shelf.rs')"], 5);
    all.add("answer", &["answer", "all"], 0);
    all.run("move", "editor.move('Shelf::titles', after='Shelf::new')");
    all.run("swap", "editor.swap('Shelf::put', 'Shelf::pages')");
    all.run("undo", "editor.undo()");
    all.run("redo", "editor.redo()");
    all.add("rename asks", &["run", "editor.rename('Shelf::put', 'add')"], 5);
    all.add("answer of the rename", &["answer", "all"], 0);
    all.run("insert beside", "editor.insert(text='/// Nothing.\\nfn nothing() {}', before='main')");
    all.run("delete", "editor.delete('nothing')");
    all.run("extract a method", "editor.extract_method(body('Shelf::pages'), 'count_pages')");
    all.run("replace lines unseen", "editor.replace_lines('src/main.rs:7', '    // Pages.')");
    all.run("replace a body", "editor.replace_body('Book::empty', 'todo!()')");
    all.run("create", "editor.create('src/new.rs', 'fn new() {}')");
    all.run("three steps", "editor.delete('src/new.rs#new'); editor.delete('Book::empty'); editor.insert(text='// end', after='main')");
    all.ask("diff", "editor.diff()");
    all.add("undo a round", &["undo"], 0);
    insta::assert_snapshot!(all.whole());
}

#[test]
fn notes_have_these_sizes() {
    let mut all = Answers::new();
    all.run("add", "notebook.add('Plan', 'Read the shelf.\\nThen the book.', tags=['work'])");
    all.run("add by reference", "notebook.add('put', text=editor.lines('Shelf::put'))");
    all.ask("show all", "notebook.show('all')");
    all.ask("show one", "notebook.show('Plan')");
    all.ask("search", "notebook.search('shelf')");
    all.run("rename", "notebook.rename('Plan', 'The plan')");
    all.add("remove", &["run", "notebook.remove('put')"], 0);
    all.run("undo", "notebook.undo()");
    insta::assert_snapshot!(all.whole());
}

#[test]
fn failures_have_these_sizes() {
    let mut all = Answers::new();
    all.add("unknown name", &["run", "editor.delete('Shelf::putt')"], 3);
    all.add("no match", &["run", "editor.replace('nowhere', 'x', in='src')"], 1);
    all.add("unknown action", &["run", "editor.replac('a', 'b')"], 2);
    let failing = "editor.delete('Shelf::putt'); editor.delete('Book')";
    all.add("failed run with a rest", &["run", failing], 3);
    all.add("drop the rest", &["answer", "none"], 0);
    all.add("failed query among others", &["ask", "editor.lines('nope'); editor.lines('main')"], 3);
    insta::assert_snapshot!(all.whole());
}
