//! Checks the rules of a field besides its type.

use pipemux_proto::Value;
use pipemux_proto::prototype::Field;
use pipemux_tokens::work::spend;

use crate::intake::pattern::compile;
use crate::limits::PATTERN_TEXT_MAX;
use crate::scripts::step::Argument;

/// Checks a value that is of the field's type. What is no value yet, such as a ref, passes.
///
/// # Errors
/// The rule that it breaks, in words that follow the field's name. They don't repeat the value.
pub fn check(field: &Field, argument: &Argument) -> Result<(), String> {
    let size = match argument {
        Argument::List(items) => items.len(),
        _ => match argument.to_value() {
            Some(Value::Str(text)) => {
                matches(field, &text)?;
                text.chars().count()
            }
            Some(Value::List(items)) => items.len(),
            Some(Value::Int(number)) => return within(field, number as f64, "not that"),
            Some(Value::Float(number)) => return within(field, number, "not that"),
            _ => return Ok(()),
        },
    };
    within(field, size as f64, &format!("not {size}"))
}

fn within(field: &Field, number: f64, given: &str) -> Result<(), String> {
    let fits =
        field.min.is_none_or(|min| number >= min) && field.max.is_none_or(|max| number <= max);
    match fits {
        true => Ok(()),
        false => {
            let range = Field { pattern: None, ..field.clone() };
            Err(format!("has to be {}, {given}", range.bounds()))
        }
    }
}

fn matches(field: &Field, text: &str) -> Result<(), String> {
    let Some(pattern) = &field.pattern else { return Ok(()) };
    if text.len() > PATTERN_TEXT_MAX {
        return Err(format!("has to be at most {PATTERN_TEXT_MAX} bytes long"));
    }
    spend(text.len() * pattern.len().max(1));
    // The pattern was compiled when it was taken in.
    let fits = compile(pattern).is_ok_and(|pattern| pattern.is_match(text));
    if fits { Ok(()) } else { Err(format!("has to match /{pattern}/")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::projection::Arg;
    use pipemux_proto::prototype::Type;

    fn checked(field: &Field, value: impl Into<Value>) -> Result<(), String> {
        check(field, &Argument::Fixed(Arg::from(value.into())))
    }

    #[test]
    fn rules_count_what_the_type_has() {
        let number = Field { ty: Type::Int, min: Some(1.0), max: Some(9.0), ..Field::default() };
        assert_eq!(checked(&number, 9), Ok(()));
        assert_eq!(checked(&number, 10), Err("has to be 1 to 9, not that".into()));
        let text = Field { max: Some(3.0), ty: Type::String, ..Field::default() };
        assert_eq!(checked(&text, "äöü"), Ok(()));
        let long = Err("has to be at most 3 characters, not 4".into());
        assert_eq!(checked(&text, "äöü!"), long);
        let list = Type::List(Box::new(Type::Int));
        let list = Field { ty: list, min: Some(1.0), ..Field::default() };
        let empty = check(&list, &Argument::List(Vec::new()));
        assert_eq!(empty, Err("has to be at least 1 item, not 0".into()));
    }

    #[test]
    fn pattern_is_for_the_whole_text() {
        let pattern = Some("[0-9]+|x".to_owned());
        let field = Field { pattern, ty: Type::String, ..Field::default() };
        assert_eq!(checked(&field, "42"), Ok(()));
        for wrong in ["42 ", "a42", "xx", "42\n"] {
            assert_eq!(checked(&field, wrong), Err("has to match /[0-9]+|x/".into()), "{wrong:?}");
        }
        let long = "1".repeat(PATTERN_TEXT_MAX + 1);
        assert!(checked(&field, long.as_str()).is_err());
    }
}
