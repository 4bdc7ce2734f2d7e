//! The actions that an agent can call. Names and parameters are a contract.

use docui::{Anchor, Change, FilePath, Line, Pattern, Text, TextOrPattern};

docui::kind!(
    /// An open file.
    pub File = "file"
);

docui::choices! {
    /// What a match must be part of.
    pub enum Only { Code = "code", Comments = "comments", Strings = "strings" }
}

docui::actions! {
    /// An action of the editor.
    pub enum Action {
        /// Lines with a text, by file: in='src/{a,b}.rs' or ['src', '*.py'], default the project. only='code', not='regex', count=true.
        query featured Find = find(
            /// With regex=true a regular expression, as it is written: '\bfn\s'.
            text: TextOrPattern,
            r#in: Vec<FilePath> = Vec::new(),
            /// Only whole words.
            word: bool = false,
            regex: bool = false,
            /// False takes upper and lower case as the same.
            case: bool = true,
            /// Leaves out the other parts of the code.
            only: Option<Only> = None::<Only>,
            /// Leaves out lines that match this regular expression.
            not: Option<Pattern> = None::<Pattern>,
            /// Only how many each file has.
            count: bool = false,
            /// Fails below so many matches.
            min: i64 = 0,
        );
        /// Takes what find takes; default: the current file. Several matches: you are asked, unless all=true.
        changes featured Replace = replace(
            old: TextOrPattern,
            /// With regex=true, $1 stands for the first group.
            new: Text,
            r#in: Vec<FilePath> = Vec::new(),
            word: bool = false,
            regex: bool = false,
            case: bool = true,
            only: Option<Only> = None::<Only>,
            not: Option<Pattern> = None::<Pattern>,
            /// True replaces every match without asking.
            all: bool = false,
        );
        /// Lines as you last saw them, also after earlier steps of the run; another file's: 'b.rs:20'. text='' deletes.
        changes featured ReplaceLines = replace_lines(first: Line, last: Line, text: Text);
        changes featured MoveLines = move_lines(first: Line, last: Line, before: Line);
        /// Writes held edits of all files to disk; asks first if a file has changed there.
        changes help Save = save();
        /// Keeps edits in the session until save(); hold(false) saves them and ends that.
        changes help Hold = hold(on: bool = true);
        /// A new file with this text; its folders are made. One that exists: only with overwrite=true.
        changes help Create = create(path: FilePath, text: Text, overwrite: bool = false);
        /// Takes back the last change, in all files that it touched; also after a restart.
        changes listed Undo = undo(
            /// How many changes.
            steps: i64 = 1,
            /// The change that an [undo] link names.
            change: Option<Change> = None::<Change>,
        );
        /// Opens a file, or makes an open one the current file.
        safe help Open = open(path: FilePath);
        /// Writes a copy of the current file to another path; the file stays open.
        changes help SaveAs = save_as(path: FilePath);
        /// Closes a file, by default the current one; asks first if it has held edits.
        changes help Close = close(file: Option<Anchor<File>> = None::<Anchor<File>>);
        /// Inserts lines before a line. To append, give the number after the last line.
        changes help Insert = insert(
            /// The line that the text goes before.
            at: Line,
            text: Text,
        );
        /// Deletes lines.
        changes help DeleteLines = delete_lines(first: Line, last: Line);
        /// Returns lines exactly as they are, for another call: add(text=editor.lines(1, 9)).
        safe help Lines = lines(first: Line, last: Line) -> String;
        /// The same lines of many files: lines('docs/*.md', 1, 12).
        query help LinesOf = lines_of as lines(files: Vec<FilePath>, first: i64, last: i64);
        /// The files that globs match.
        query alias Glob = glob(pattern: Vec<FilePath>, path: Option<FilePath> = None::<FilePath>);
        /// Lines that match a regular expression.
        query alias Grep = grep(
            pattern: Pattern,
            path: Vec<FilePath> = Vec::new(),
            /// Only files that match it.
            glob: Option<String> = None::<String>,
            ignore_case: bool = false,
        );
        /// Gives lines the name `selection`, which follows them when they move.
        safe help Select = select(first: Line, last: Line);
        /// Scrolls to a line; 'b.rs:20' switches to another open file.
        safe help Goto = goto(line: Line);
        /// Makes changes again that were undone.
        changes help Redo = redo(
            /// How many changes.
            steps: i64 = 1,
            /// The change that a [redo] link names.
            change: Option<Change> = None::<Change>,
        );
        /// Makes whole statements a new function of their file: range=selection, or range='10-14'. types='x: u32, y: &str' tells what the code doesn't. For Rust, Python, JavaScript, TypeScript and Go.
        changes help ExtractMethod = extract_method(range: Line, name: String, types: String = "");
        /// Compares the current file with the one on disk.
        safe help Diff = diff() -> String;
    }
}
