//! An app that answers each exchange with the same bytes.

use std::process::ExitCode;

use docui::{
    App, Bytes, Context, Done, ExchangeReply, Fault, Found, Opening, Reply, View, ViewRequest,
};

docui::actions! {
    enum Action {
        /// Does nothing, so that only the cost of the call is measured.
        changes featured Nothing = nothing();
    }
}

struct Echo;

impl App for Echo {
    type Action = Action;

    fn open(_: &Opening) -> Result<Self, Fault> {
        Ok(Echo)
    }

    fn update(&mut self, action: Action, _: &Context) -> Result<Reply, Fault> {
        let Action::Nothing {} = action;
        Ok(Done::new("nothing").into())
    }

    fn view(&self, _: &ViewRequest) -> View {
        let mut view = View::new("an echo");
        view.text("It answers exchanges with their own bytes.\n");
        view
    }

    fn find(&self, _: &str) -> Found {
        Found::Gone(None)
    }

    fn exchange(&mut self, body: Bytes) -> Result<ExchangeReply, Fault> {
        Ok(ExchangeReply::new(body))
    }
}

fn main() -> ExitCode {
    docui::run::<Echo>()
}
