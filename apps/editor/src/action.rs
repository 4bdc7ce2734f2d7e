//! What can be done: names and parameters are a contract.

use docui::{Anchor, Line, Text};

docui::kind!(
    /// An open file.
    pub File = "file"
);

docui::actions! {
    /// An action of the editor.
    pub enum Action {
        /// Exact text. Several matches: you are asked which.
        changes featured Replace = replace(old: String, new: Text, all: bool = false);
        /// Lines as you last saw them, also after earlier steps of the run; another file's: 'b.rs:20'. text='' deletes.
        changes featured ReplaceLines = replace_lines(first: Line, last: Line, text: Text);
        changes featured MoveLines = move_lines(first: Line, last: Line, before: Line);
        /// Writes the current file to disk; asks when it changed there.
        changes listed Save = save();
        /// Takes back whole actions on the current file; `change` names the one it is meant for.
        changes listed Undo = undo(steps: i64 = 1, change: Option<String> = None::<String>);
        /// Opens one more file, or makes an open one current.
        safe help Open = open(path: String);
        /// Writes the current file under another name and goes on with that one.
        changes help SaveAs = save_as(path: String);
        /// Closes a file, the current one if none is named; asks when it has unsaved changes.
        changes help Close = close(file: Option<Anchor<File>> = None::<Anchor<File>>);
        /// Lists where the exact text stands and goes to the first place.
        safe help Find = find(text: String);
        /// Adds lines before a line; the number after the last one appends.
        changes help Insert = insert(at: Line, text: Text);
        /// Deletes lines.
        changes help DeleteLines = delete_lines(first: Line, last: Line);
        /// Gives lines exactly as they are, for another call: add(text=editor.lines(1, 9)).
        safe help Lines = lines(first: Line, last: Line) -> String;
        /// Names lines `selection`; it moves with them.
        safe help Select = select(first: Line, last: Line);
        /// Shows the file from a line on; 'b.rs:20' goes to another open file.
        safe help Goto = goto(line: Line);
        /// Does again what was undone.
        changes help Redo = redo(steps: i64 = 1, change: Option<String> = None::<String>);
        /// Compares the current file with the one on disk.
        safe help Diff = diff() -> String;
    }
}
