//! Records among arguments: each field is checked as an argument is.

use std::collections::BTreeMap;

use pipemux_proto::Fault;
use pipemux_proto::call::{Entry, Span, nearest};
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::{Field, Type};

use crate::scripts::field_rules;
use crate::scripts::plan::Planner;
use crate::scripts::step::Argument;

impl Planner<'_> {
    /// Checks a record field by field.
    ///
    /// # Errors
    /// A field is unknown, missing, of another type, or breaks one of its rules.
    pub(super) fn record(
        &mut self,
        entries: &[Entry],
        fields: &[Field],
        span: Span,
        param: &str,
    ) -> Result<Argument, Fault> {
        let mut given = BTreeMap::new();
        for entry in entries {
            let Some(field) = fields.iter().find(|field| field.name == entry.name) else {
                let names = || fields.iter().map(|field| field.name.as_str());
                let guess = nearest(&entry.name, names())
                    .map_or(String::new(), |guess| format!(": did you mean {guess}?"));
                let all = names().collect::<Vec<_>>().join(", ");
                let note = format!("{param} has {all}{guess}");
                return Err(self.error("unknown field", entry.name_span, note));
            };
            let place = format!("{param}.{}", field.name);
            let value = self.argument(&entry.value, &field.ty, entry.span, &place)?;
            if let Some(meant) = value.first_meant(true) {
                let note = match field.holds_secret() {
                    true => format!("{place} is {}", field.ty),
                    false => format!("{place} is {}, did you mean {meant}?", field.ty),
                };
                return Err(self.error("wrong type", entry.span, note));
            }
            if let Err(why) = field_rules::check(field, &value) {
                return Err(self.error("wrong value", entry.span, format!("{place} {why}")));
            }
            given.insert(entry.name.as_str(), value);
        }
        let lacks = |field: &&Field| field.is_required() && !given.contains_key(&*field.name);
        if let Some(field) = fields.iter().find(lacks) {
            let note = format!("{param} needs {field}");
            return Err(self.error("missing field", span, note));
        }
        // In the order of the type: a record is the same in whatever order it is written.
        let whole = fields.iter().filter_map(|field| {
            given.remove(field.name.as_str()).map(|value| (field.name.clone(), value))
        });
        Ok(collapsed(whole.collect()))
    }

    /// Checks a record whose names the caller chooses.
    ///
    /// # Errors
    /// A value is of another type.
    pub(super) fn map(
        &mut self,
        entries: &[Entry],
        of: &Type,
        param: &str,
    ) -> Result<Argument, Fault> {
        let mut whole = Vec::with_capacity(entries.len());
        for entry in entries {
            let place = format!("{param}.{}", entry.name);
            let value = self.argument(&entry.value, of, entry.span, &place)?;
            if let Some(meant) = value.first_meant(true) {
                let note = format!("{place} is {of}, did you mean {meant}?");
                return Err(self.error("wrong type", entry.span, note));
            }
            whole.push((entry.name.clone(), value));
        }
        Ok(collapsed(whole))
    }

    /// Checks a record for a parameter of any type. The app may not know records that contain refs.
    ///
    /// # Errors
    /// It has something else than values in it.
    pub(super) fn any_record(
        &mut self,
        entries: &[Entry],
        span: Span,
        param: &str,
    ) -> Result<Argument, Fault> {
        match self.map(entries, &Type::Any, param)? {
            Argument::Record(_) => {
                let note = format!("{param} takes a record of values only");
                Err(self.error("wrong type", span, note))
            }
            value => Ok(value),
        }
    }
}

/// Makes one value of a record that is nothing but values.
fn collapsed(entries: Vec<(String, Argument)>) -> Argument {
    let record = Argument::Record(entries);
    match record.to_value() {
        Some(value) => Argument::Fixed(Arg::from(value)),
        None => record,
    }
}
