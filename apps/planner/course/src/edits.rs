//! Creates a new version when somebody edits the artifact's file by hand or goes back to an earlier
//! version.

use serde_json::Value;

use crate::artifact::Artifact;
use crate::course::Course;
use crate::event::Refusal;
use crate::stage::Stage;
use crate::versions::Version;

/// Applies what somebody made of the artifact's file by hand. What says the same in another form is
/// no other version.
pub(crate) fn edit(course: &mut Course, text: &str) -> Result<(), Refusal> {
    let Some(version) = course.versions.newest() else {
        return Err(Refusal::new("there is no artifact", ""));
    };
    if course.versions.file_text().as_deref() == Some(text) {
        return Err(Refusal::new("the file is as it was", ""));
    }
    let artifact = match &version.artifact {
        Artifact::Draft(_) => Artifact::Draft(text.to_owned()),
        Artifact::Plan(_) => match serde_json::from_str(text) {
            Ok(plan @ Value::Object(_)) => Artifact::Plan(plan),
            Ok(_) => return Err(Refusal::new("the plan is no JSON object now", "")),
            Err(error) => {
                return Err(Refusal::new(format!("the plan is no JSON now: {error}"), ""));
            }
        },
    };
    let number = version.number;
    let is_same = artifact == version.artifact;
    let what = if !course.is_signed() && !is_same {
        // By earlier rules what was agreed on gives way.
        if let Some(version) = course.versions.all.last_mut() {
            (version.artifact, version.edited) = (artifact, true);
        }
        course.versions.written = Some(text.to_owned());
        format!("version {number} was edited by hand; it is taken as it is")
    } else if is_same {
        course.versions.written = Some(text.to_owned());
        format!("the file of version {number} was written in another form; it says the same")
    } else {
        let agreed = course.versions.all.iter().rev().find(|one| one.artifact == artifact);
        let made = match agreed {
            Some(one) => Version { rolled_back_from: Some(one.number), ..one.clone() },
            None => Version { edited: true, rolled_back_from: None, ..version.clone() },
        };
        course.add_version(Version { artifact, text: Some(text.to_owned()), ..made });
        if course.stage == Stage::Accepted {
            // That was another one.
            course.enter(Stage::Confirm);
        }
        let now = number + 1;
        format!("version {number} was edited by hand; version {now} is what became of it")
    };
    course.record.note("decision".into(), "user", &what, &what);
    Ok(())
}

/// Makes an earlier version the present one, word for word, as a new version that is marked as that
/// one was.
pub(crate) fn roll_back(course: &mut Course, to: u32) -> Result<(), Refusal> {
    if !matches!(course.stage, Stage::Confirm | Stage::Accepted) {
        let stage = course.stage.shown();
        return Err(Refusal::new(format!("a discussion is under way: the stage is {stage}"), ""));
    }
    let Some(version) = course.versions.get(to) else {
        return Err(Refusal::new(format!("there is no version {to}"), "versions()"));
    };
    let mut made = Version { rolled_back_from: Some(to), ..version.clone() };
    match course.is_signed() {
        false => {
            made.artifact = version.artifact.rolled_back(to, course.versions.next_number());
            made.text = None;
        }
        true => made.text = Some(version.text()),
    }
    course.add_version(made);
    let text = format!("goes back to version {to}");
    course.record.note("decision".into(), "user", &text, &text);
    course.enter(Stage::Confirm);
    Ok(())
}
