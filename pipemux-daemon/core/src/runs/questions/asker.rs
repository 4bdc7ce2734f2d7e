//! Who asks a question, and a question that was answered.

use pipemux_proto::app::Invoke;
use pipemux_proto::{Code, Fault};

use crate::foreign::Needs;
use crate::runs::questions::missing_argument::names_objects;
use crate::scripts::step::{Argument, MissingArgument, Step};

/// The origin of a question.
#[derive(Debug, Clone)]
pub enum Asker {
    /// The app asks about this request.
    App(Box<Invoke>),
    /// The daemon asks for an argument.
    MissingArgument(AskedArgument),
    /// The daemon asks for several arguments of the step with this index.
    MissingArguments(usize),
    /// The daemon asks which session the step with this index means.
    AmbiguousTarget(usize),
}

/// An argument that a question asks for.
#[derive(Debug, Clone)]
pub struct AskedArgument {
    pub step: usize,
    /// The argument's index in the step.
    pub index: usize,
    pub missing: MissingArgument,
    /// The argument for each listed option, as it was when the question was asked.
    pub options: Vec<Argument>,
}

/// A question whose answer the run resumed with. It is asked again if the answer turns out to be
/// wrong.
#[derive(Debug, Clone)]
pub struct AnsweredQuestion {
    pub number: u64,
    pub needs: Needs,
    pub asker: Asker,
    /// The index of the step that asked.
    pub index: usize,
    /// The form fields that were answered.
    pub given: Vec<(String, Argument)>,
    /// The step as it was before the answer.
    pub step: Step,
}

impl AnsweredQuestion {
    /// Returns true if a fault means that the answer was wrong, so that it may be given again. The
    /// step must not have taken effect. If an app refuses for another reason, the answer was valid.
    pub fn is_wrong(&self, fault: &Fault) -> bool {
        match self.asker {
            Asker::App(_) => matches!(fault.code, Code::Usage | Code::Unavailable),
            // A ref that leads nowhere is another argument's when the answer can't be one.
            Asker::MissingArgument(ref asked) if !names_objects(&asked.missing.ty) => {
                matches!(fault.code, Code::Usage | Code::Unavailable | Code::Refused)
            }
            Asker::MissingArgument(_) | Asker::MissingArguments(_) | Asker::AmbiguousTarget(_) => {
                matches!(
                    fault.code,
                    Code::Usage
                        | Code::Unavailable
                        | Code::NotFound
                        | Code::OutOfView
                        | Code::Refused
                )
            }
        }
    }
}
