//! The actions that an agent can call. Names and parameters are a contract.

use crate::limits::{HEAD_FIRST, HEAD_LAST};
use docui::{Anchor, Change, Data, FilePath, Line, Pattern, Text, TextOrPattern};

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
        /// Lines with a text, by file: in='src/{a,b}.rs' or ['src', '*.py'], default the project.
        /// only='code', not='regex', count=true.
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
            /// Only in files that have this text, too, anywhere; a regular expression with
            /// regex=true.
            with: Option<TextOrPattern> = None::<TextOrPattern>,
            /// Only how many each file has.
            count: bool = false,
            /// Fails below so many matches.
            min: i64 = 0,
            /// True shows every line, also of files that have more than 80.
            all: bool = false,
        );
        /// Who calls it: each line of code with a name, the symbol around it, and `def` where it is
        /// defined.
        query help Uses = uses(
            name: String,
            r#in: Vec<FilePath> = Vec::new(),
            /// True shows every line, also of files that have more than 80.
            all: bool = false,
        );
        /// Takes what find takes; default: the current file, else the project. Several matches: you
        /// are asked, unless all=true.
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
        ), preview;
        /// Lines as you last saw them, also after earlier steps of the run; another file's:
        /// 'b.rs:20'. text='' deletes.
        changes featured ReplaceLines = replace_lines(first: Line, last: Line, text: Text), preview;
        /// Replaces lines ('a.rs:10-20'), or a symbol with its doc comment and attributes. text=''
        /// deletes.
        changes help ReplaceRange = replace_range as replace_lines(range: Line, text: Text), preview;
        changes featured MoveLines = move_lines(first: Line, last: Line, before: Line), preview;
        /// Writes held edits of all files to disk; asks first if a file has changed there.
        changes help Save = save();
        /// Keeps edits in the session until save(); hold(false) saves them and ends that.
        changes help Hold = hold(on: bool = true);
        /// A new file with this text; its folders are made. One that exists: only with
        /// overwrite=true.
        changes help Create = create(path: FilePath, text: Data, overwrite: bool = false), preview;
        /// Takes back the last change, in all files that it touched; also after a restart.
        changes listed Undo = undo(
            /// How many changes.
            steps: i64 = 1,
            /// The change that an [undo] link names.
            change: Option<Change> = None::<Change>,
        ), preview;
        /// Opens files, folders, globs; the last file is the current one. A path that doesn't exist
        /// is a new file.
        safe help Open = open(path: Vec<FilePath>);
        /// Writes a copy of the current file to another path; the file stays open.
        changes help SaveAs = save_as(path: FilePath);
        /// Closes a file, by default the current one; asks first if it has held edits.
        changes help Close = close(file: Option<Anchor<File>> = None::<Anchor<File>>);
        /// Inserts lines before a line. To append, give the number after the last line.
        changes help Insert = insert(
            /// The line that the text goes before.
            at: Line,
            text: Text,
        ), preview;
        /// Deletes lines.
        changes help DeleteLines = delete_lines(first: Line, last: Line), preview;
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
        ), preview;
        /// Makes whole statements a new function of their file: range=selection, or range='10-14'.
        /// types='x: u32, y: &str' tells what the code doesn't. For Rust, Python, JavaScript,
        /// TypeScript and Go.
        changes help ExtractMethod = extract_method(range: Line, name: String, types: String = ""), preview;
        /// The symbols of files with their lines; of Markdown the headings with the first sentences
        /// below them, of many such files only what each is about. kinds=['struct', 'unsafe fn'],
        /// depth=1: only the outermost; name: a part of it. public: what is used from outside, in
        /// Rust exactly `pub`.
        query help Outline = outline(
            r#in: Vec<String> = Vec::<String>::new(),
            public: bool = false,
            count: bool = false,
            kinds: Vec<String> = Vec::<String>::new(),
            depth: i64 = 0,
            name: String = "",
        ) -> String;
        /// The lines of a symbol or a range: lines('Type::foo'), lines('src/a.rs:10-20'); behind an
        /// edit of the same run as they are numbered then. As an argument, the bare text.
        query help LinesOf = lines_of as lines(range: Line) -> String;
        /// The same lines of many files: lines('docs/*.md', 1, 12). Of several ranges and symbols,
        /// these. As an argument, the bare text.
        query help Heads = heads as lines(
            files: Vec<FilePath>,
            first: i64 = HEAD_FIRST,
            last: i64 = HEAD_LAST,
            /// Leaves out lines that match this regular expression.
            not: Option<Pattern> = None::<Pattern>,
            /// With the badges, link addresses and HTML of Markdown files; as an argument, they are
            /// there anyway.
            markup: bool = false,
            /// The signature, and each match of this regular expression with three lines around it;
            /// the rest is counted.
            around: Option<Pattern> = None::<Pattern>,
            /// False leaves out documentation of more than three lines.
            docs: bool = true,
        ) -> String;
        /// Returns lines exactly as they are, for another call: add(text=editor.lines(1, 9)).
        query help Lines = lines(first: Line, last: Line) -> String;
        /// What stands between a symbol's braces. As an argument, these lines:
        /// extract_method(editor.body('f'), 'g').
        query help Body = body(symbol: Line) -> String;
        /// Moves a symbol with its doc comment and attributes, or lines, also to another file:
        /// move('foo', after='Type::bar').
        changes help Move = move(
            range: Line,
            before: Option<Line> = None::<Line>,
            after: Option<Line> = None::<Line>,
            at_start_of: Option<Line> = None::<Line>,
            at_end_of: Option<Line> = None::<Line>,
        ), preview;
        /// Exchanges two symbols or ranges.
        changes help Swap = swap(one: Line, other: Line), preview;
        /// Deletes a symbol with its doc comment and attributes, or lines.
        changes help Delete = delete(range: Line), preview;
        /// Deletes several symbols and ranges, also of several files: all or none, with one undo.
        changes help DeleteAll = delete_all as delete(ranges: Vec<Line>), preview;
        /// Inserts lines beside or inside a symbol, shifted to the indentation there;
        /// indent='exact' turns that off.
        changes help InsertBeside = insert_beside as insert(
            text: Text,
            before: Option<Line> = None::<Line>,
            after: Option<Line> = None::<Line>,
            at_start_of: Option<Line> = None::<Line>,
            at_end_of: Option<Line> = None::<Line>,
            indent: String = "",
        ), preview;
        /// Replaces what stands between a symbol's braces.
        changes help ReplaceBody = replace_body(symbol: Line, text: Text), preview;
        /// Renames a symbol in the project where resolving the name proves it, and asks about the
        /// rest. With `in`: all symbols of the name in these files.
        changes help Rename = rename(
            symbol: Line,
            new: String,
            r#in: Vec<String> = Vec::<String>::new(),
        ), preview;
        /// What this session changed, file by file.
        query help Diff = diff(
            /// Files, folders or globs; by default all that it changed.
            r#in: Vec<String> = Vec::<String>::new(),
        ) -> String;
        /// All of a patch or nothing, over any files: a unified diff, *** Begin Patch, or
        /// SEARCH/REPLACE blocks. Usually patch=stdin.
        changes help Apply = apply(patch: Text), preview;

        // Names that models know from other tools, with their parameters and their meaning.
        /// As apply.
        changes alias ApplyPatch = apply_patch(patch: Text);
        /// As apply.
        changes alias ApplyPatchInput = apply_patch_input as apply_patch(input: Text);
        /// Replaces a text that occurs exactly once; if it occurs more often, you are asked.
        changes alias StrReplace = str_replace(path: FilePath, old_str: String, new_str: Text);
        /// In the current file.
        changes alias StrReplaceHere = str_replace_here as str_replace(old_str: String, new_str: Text = "");
        /// Removes the text.
        changes alias StrRemove = str_remove as str_replace(path: FilePath, old_str: String);
        /// Replaces a text that occurs exactly once, or all of it with replace_all. An empty
        /// old_string makes a new file.
        changes alias EditFile = edit(
            file_path: FilePath,
            old_string: String,
            new_string: Text,
            replace_all: bool = false,
        );
        /// Shows a file, or its lines from view_range[0] to view_range[1]; -1 is the last one.
        /// Lists a folder.
        query alias ViewFile = view(path: FilePath, view_range: Vec<i64> = Vec::new()) -> String;
        /// Shows a file, from line `offset` on.
        query alias ReadFile = read_file(path: FilePath, offset: i64 = 1, limit: i64 = 0) -> String;
        /// Shows a file, from line `offset` on.
        query alias ReadFilePath = read_file_path as read_file(file_path: FilePath, offset: i64 = 1, limit: i64 = 0) -> String;
        /// Inserts lines *after* a line; 0 is the top of the file.
        changes alias InsertAfter = insert_after as insert(
            path: FilePath,
            insert_line: i64,
            insert_text: Text,
        );
        /// Inserts lines *after* a line; 0 is the top of the file.
        changes alias InsertNewStr = insert_new_str as insert(
            path: FilePath,
            insert_line: i64,
            new_str: Text,
        );
        /// Inserts lines *after* a line; 0 is the top of the file.
        changes alias InsertTextAfter = insert_text_after as insert(
            path: FilePath,
            insert_line: i64,
            text: Text,
        );
        /// Inserts lines *after* a line of the current file; 0 is its top.
        changes alias InsertHere = insert_here as insert(insert_line: i64, insert_text: Text);
        /// Inserts lines *after* a line of the current file; 0 is its top.
        changes alias InsertNewStrHere = insert_new_str_here as insert(insert_line: i64, new_str: Text);
        /// Inserts lines *after* a line of the current file; 0 is its top.
        changes alias InsertTextHere = insert_text_here as insert(insert_line: i64, text: Text);
        /// Adds lines at the end of a file.
        changes alias AppendTo = append_to as append(path: FilePath, text: Text);
        /// Makes a new file; asks before it replaces one.
        changes alias CreateFile = create_file as create(path: FilePath, file_text: Text);
        /// Writes a file, new or not.
        changes alias WriteFile = write_file(path: FilePath, content: Text);
        /// Writes a file, new or not.
        changes alias WriteFilePath = write_file_path as write_file(file_path: FilePath, content: Text);
    }
}
