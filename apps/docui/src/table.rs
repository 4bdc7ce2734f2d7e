//! A table whose rows are things: sorted, filtered and shown page by page.
//!
//! Only the app knows all rows, so sorting and filtering are its work: give a reader actions such
//! as `sort(by)`, `find(text)` and `page(number)`, and pass their arguments on. Each row keeps its
//! object's key, so that readers are told of a change which row it is in, and that a row moved.
//!
//! ```
//! use docui::table::{Order, Table};
//! use docui::{Object, View};
//! let mut table = Table::new(["Name", "HP"]);
//! table.row(Object::new("s1", "Slime 1"), ["9"]);
//! table.row(Object::new("r1", "Robber"), ["25"]);
//! table.sort("hp", Order::Descending)?;
//! let mut view = View::new("2 enemies");
//! table.page(1, 20).add_to(&mut view);
//! # Ok::<(), docui::Fault>(())
//! ```

use std::cmp::Ordering;
use std::fmt::Write;

use pipemux_proto::Fault;
use pipemux_proto::call::nearest;

use crate::view::{Object, View};

/// In which order rows stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The smallest first.
    Ascending,
    /// The largest first.
    Descending,
}

/// A table whose first column are the labels of objects.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Row>,
    /// The rows that are shown: the first one from 0, and how many.
    page: Option<(usize, usize)>,
    /// How many rows there were before they were filtered.
    total: usize,
}

#[derive(Debug, Clone)]
struct Row {
    object: Object,
    /// The cells behind the object.
    cells: Vec<String>,
}

impl Table {
    /// Makes a table without rows. The first column is that of the objects.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { columns, rows: Vec::new(), page: None, total: 0 }
    }

    /// Adds a row: its object and the cells of the other columns. Cells that are missing are empty,
    /// and those that no column is for are left out.
    pub fn row<S: Into<String>>(
        &mut self,
        object: Object,
        cells: impl IntoIterator<Item = S>,
    ) -> &mut Self {
        let mut cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        cells.resize(self.columns.len().saturating_sub(1), String::new());
        self.rows.push(Row { object, cells });
        self.total += 1;
        self
    }

    /// Sorts the rows by a column; rows that are equal there keep their order. Numbers are compared
    /// as numbers, with what stands behind them left out: `9 KB` stands before `25 KB`.
    ///
    /// # Errors
    /// There is no such column. The fault names those that there are.
    pub fn sort(&mut self, column: &str, order: Order) -> Result<&mut Self, Fault> {
        let column = self.column(column)?;
        self.rows.sort_by(|one, other| {
            let ordering = compare(one.cell(column), other.cell(column));
            match order {
                Order::Ascending => ordering,
                Order::Descending => ordering.reverse(),
            }
        });
        Ok(self)
    }

    /// Keeps only the rows that have a text in a column, whatever the case of its letters.
    ///
    /// # Errors
    /// As [`Table::sort`].
    pub fn filter(&mut self, column: &str, text: &str) -> Result<&mut Self, Fault> {
        let (column, text) = (self.column(column)?, text.to_lowercase());
        self.rows.retain(|row| row.cell(column).to_lowercase().contains(&text));
        Ok(self)
    }

    /// Shows only one page of so many rows, counted from 1. One beyond the last is the last.
    pub fn page(&mut self, number: usize, size: usize) -> &mut Self {
        let size = size.max(1);
        let last = self.rows.len().saturating_sub(1) / size;
        self.page = Some((number.saturating_sub(1).min(last) * size, size));
        self
    }

    /// Returns how many pages of so many rows there are; at least one.
    pub fn pages(&self, size: usize) -> usize {
        self.rows.len().div_ceil(size.max(1)).max(1)
    }

    /// Adds the table to a view, and says which rows are shown if not all are.
    pub fn add_to(&self, view: &mut View) {
        let (first, size) = self.page.unwrap_or((0, usize::MAX));
        let shown = self.rows.iter().skip(first).take(size);
        let mut head = String::new();
        for column in &self.columns {
            let _ = write!(head, "| {} ", cell_text(column));
        }
        head += "|\n";
        head += &"|---".repeat(self.columns.len());
        view.text(format!("{head}|\n"));
        let mut count = 0;
        for row in shown {
            count += 1;
            let mut cells = String::from(" |");
            for cell in &row.cells {
                let _ = write!(cells, " {} |", cell_text(cell));
            }
            view.text("| ").object(row.object.clone()).text(format!("{cells}\n"));
        }
        let (found, total) = (self.rows.len(), self.total);
        if count < found {
            view.text(format!("rows {}-{} of {found}", first + 1, first + count));
            view.text(if found < total {
                format!(", filtered from {total}\n")
            } else {
                "\n".into()
            });
        } else if found < total {
            view.text(format!("{found} of {total} rows\n"));
        }
    }

    fn column(&self, name: &str) -> Result<usize, Fault> {
        let found = self.columns.iter().position(|column| column.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let message = format!("no column {name:?}, there are {}", self.columns.join(", "));
            let fault = Fault::usage(message);
            match nearest(name, self.columns.iter().map(String::as_str)) {
                Some(near) => fault.hint(format!("did you mean {near}?")),
                None => fault,
            }
        })
    }
}

impl Row {
    fn cell(&self, column: usize) -> &str {
        match column.checked_sub(1) {
            None => self.object.label(),
            Some(at) => self.cells.get(at).map_or("", String::as_str),
        }
    }
}

/// Compares two cells: as numbers if both begin with one.
fn compare(one: &str, other: &str) -> Ordering {
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        _ => one.to_lowercase().cmp(&other.to_lowercase()),
    }
}

/// Returns the number that a cell begins with, with commas between thousands.
fn number(cell: &str) -> Option<f64> {
    let is_part = |(at, c): (usize, char)| {
        c.is_ascii_digit() || c == '.' || c == ',' || (at == 0 && c == '-')
    };
    let end = cell.char_indices().find(|at| !is_part(*at)).map_or(cell.len(), |(at, _)| at);
    cell[..end].replace(',', "").parse().ok()
}

/// Keeps a text within its cell.
fn cell_text(text: &str) -> String {
    text.replace(['\n', '\r'], " ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["Name", "Size"]);
        for (key, label, size) in
            [("a", "beta", "1,200 B"), ("b", "Alpha", "9 B"), ("c", "gamma", "25 B|x")]
        {
            table.row(Object::new(key, label), [size]);
        }
        table
    }

    fn keys(table: &Table) -> Vec<&str> {
        table.rows.iter().map(|row| row.object.label()).collect()
    }

    fn text(table: &Table) -> String {
        let mut view = View::new("");
        table.add_to(&mut view);
        let piece = |piece: &pipemux_proto::projection::Piece| match piece {
            pipemux_proto::projection::Piece::Text(text) => text.clone(),
            pipemux_proto::projection::Piece::Object(object) => object.label.clone(),
            other => format!("{other:?}"),
        };
        view.0.content.iter().map(piece).collect()
    }

    #[test]
    fn rows_are_sorted_as_numbers_or_as_texts() {
        let mut table = table();
        table.sort("size", Order::Descending).unwrap();
        assert_eq!(keys(&table), ["beta", "gamma", "Alpha"]);
        table.sort("Name", Order::Ascending).unwrap();
        assert_eq!(keys(&table), ["Alpha", "beta", "gamma"]);
        let fault = table.sort("sizes", Order::Ascending).unwrap_err();
        assert_eq!(fault.message, "no column \"sizes\", there are Name, Size");
    }

    #[test]
    fn filtered_page_says_what_is_left_out() {
        let mut table = table();
        assert_eq!(
            text(table.page(2, 2)),
            "| Name | Size |\n|---|---|\n| gamma | 25 B\\|x |\nrows 3-3 of 3\n"
        );
        assert_eq!((table.pages(2), table.pages(0)), (2, 3));
        table.filter("name", "A").unwrap().filter("size", "2").unwrap();
        assert!(text(table.page(9, 1)).ends_with("rows 2-2 of 2, filtered from 3\n"));
        assert!(text(table.page(1, 9)).ends_with("2 of 3 rows\n"));
    }
}
