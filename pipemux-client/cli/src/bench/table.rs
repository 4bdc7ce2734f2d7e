//! Prints the results.

use serde_json::{Value, json};

/// A measured figure and its floor.
#[derive(Debug)]
pub struct Row {
    /// The measured quantity.
    pub what: &'static str,
    /// `µs`, `/s`, `KiB`.
    pub unit: &'static str,
    /// The floor's figure, if there is one.
    pub floor: Option<f64>,
    /// PipeMux's figure.
    pub ours: f64,
    /// PipeMux's figure divided by the floor's, where that is meaningful.
    pub ratio: Option<f64>,
}

/// Formats the rows as a Markdown table.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = "| measured | floor | pipemux | ratio |\n|---|---:|---:|---:|".to_owned();
    for row in rows {
        let figure = |figure: f64| format!("{} {}", number(figure), row.unit);
        let floor = row.floor.map_or("–".to_owned(), figure);
        let ratio = row.ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}"));
        text += &format!("\n| {} | {floor} | {} | {ratio} |", row.what, figure(row.ours));
    }
    text + "\nThe floor is a relay that reads and writes, or a program that does nothing or only echoes: \
            `cat` as the ordinary one, and the lightest, which is linked like `pipemux`. \
            Compare ratios between machines, not times."
}

/// Returns the rows as JSON.
pub fn data(rows: &[Row]) -> Value {
    let rows = rows.iter().map(|row| {
        json!({
            "what": row.what, "unit": row.unit, "floor": row.floor, "pipemux": row.ours,
            "ratio": row.ratio,
        })
    });
    json!({ "release": env!("CARGO_PKG_VERSION"), "rows": rows.collect::<Vec<_>>() })
}

/// Formats a figure with three significant digits.
fn number(figure: f64) -> String {
    let decimals = match figure {
        _ if figure >= 100.0 => 0,
        _ if figure >= 10.0 => 1,
        _ => 2,
    };
    format!("{figure:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_shows_a_dash_for_missing_figures() {
        let rows = [
            Row { what: "a", unit: "µs", floor: Some(9.876), ours: 14.04, ratio: Some(1.4215) },
            Row { what: "b", unit: "/s", floor: None, ours: 123_456.7, ratio: None },
        ];
        let text = markdown(&rows);
        assert!(
            text.contains("\n| a | 9.88 µs | 14.0 µs | 1.42 |\n| b | – | 123457 /s | – |\n"),
            "{text}"
        );
        assert_eq!(data(&rows)["rows"][0]["ratio"], 1.4215);
        assert!(data(&rows)["rows"][1]["floor"].is_null());
    }
}
