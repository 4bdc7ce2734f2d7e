//! The grammar, parsed by recursive descent.

use std::collections::HashSet;

use super::error::CallError;
use super::excerpt::clip;
use super::lexer::{Lexer, ONLY_CALLS, Token, TokenKind};
use super::name::{is_name, not_a_call, split_name};
use super::span::Span;
use super::syntax_tree::{Argument, Call, Expr, Script, Step};
use super::text::drop_newline;
use crate::limits::{CODE_MAX, LIST_MAX, NESTING_MAX, STEPS_MAX};
use crate::value::Value;

/// Parses the code of a `run`, in which the name `stdin` stands for the given text.
///
/// # Errors
/// The first violation of the call syntax or of its bounds, or code without any step.
pub fn parse(code: &str, stdin: Option<&str>) -> Result<Script, CallError> {
    parse_with(code, stdin, false)
}

/// As [`parse`], but leaves a quoted text with a backslash as [`Expr::Quoted`]: only the prototype
/// of its call says whether its parameter takes it raw, and whether an unknown escape in it is an
/// error.
///
/// # Errors
/// As [`parse`], without unknown escapes.
pub fn parse_undecided(code: &str, stdin: Option<&str>) -> Result<Script, CallError> {
    parse_with(code, stdin, true)
}

fn parse_with(code: &str, stdin: Option<&str>, undecided: bool) -> Result<Script, CallError> {
    if code.len() > CODE_MAX {
        let note = format!("{} bytes, at most {CODE_MAX}", code.len());
        return Err(CallError::new("code too long", Span::default(), note)
            .hint("send long text on standard input: text=stdin"));
    }
    let mut lexer = Lexer::new(code);
    let token = lexer.token()?;
    let mut parser =
        Parser { lexer, token, depth: 0, steps: 0, stdin, stdin_used: false, undecided };
    parser.script()
}

pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The next token.
    pub(super) token: Token<'a>,
    /// The number of open calls and lists.
    depth: usize,
    steps: usize,
    stdin: Option<&'a str>,
    stdin_used: bool,
    /// True to leave quoted texts with a backslash as they are written.
    undecided: bool,
}

impl<'a> Parser<'a> {
    fn script(&mut self) -> Result<Script, CallError> {
        let mut steps = Vec::new();
        loop {
            while matches!(self.token.kind, TokenKind::Newline | TokenKind::Sign(';')) {
                self.advance()?;
            }
            if self.token.kind == TokenKind::End {
                break;
            }
            steps.push(self.step()?);
            if !matches!(
                self.token.kind,
                TokenKind::Newline | TokenKind::Sign(';') | TokenKind::End
            ) {
                return Err(self.after_step());
            }
        }
        if steps.is_empty() {
            let note = "expected a call, for example editor.save()";
            return Err(CallError::new("nothing to run", self.token.span, note));
        }
        Ok(Script { steps })
    }

    fn step(&mut self) -> Result<Step, CallError> {
        let first = self.advance()?;
        match first.kind {
            TokenKind::Ref(reference) => {
                self.count_step(first.span)?;
                Ok(Step::Ref(reference, first.span))
            }
            TokenKind::Word(word) if self.token.kind == TokenKind::Sign('(') => {
                // Followed by a parenthesis, these words would look like actions.
                if matches!(word, "if" | "for" | "while" | "switch" | "def" | "function") {
                    return Err(not_a_call(word, first.span));
                }
                self.call(word, first.span).map(Step::Call)
            }
            TokenKind::Word(word) => match self.token.kind {
                TokenKind::Newline | TokenKind::End | TokenKind::Sign(';')
                    if split_name(word).is_some() =>
                {
                    let word = clip(word);
                    let note = format!("{word} is not a call: write {word}()");
                    Err(CallError::new("not a call", first.span, note))
                }
                _ => Err(not_a_call(word, first.span)),
            },
            kind => {
                let error = CallError::new("not a call", first.span, ONLY_CALLS);
                Err(match kind {
                    TokenKind::Number(number) => {
                        error.hint(format!("to click a link, give its ref: link:{number}"))
                    }
                    TokenKind::Sign('[') => {
                        error.hint("to click a link, give only its ref: link:15")
                    }
                    TokenKind::Sign('{') => {
                        error.hint("a record is an argument: name(item={count: 2})")
                    }
                    _ => error,
                })
            }
        }
    }

    fn after_step(&self) -> CallError {
        let note = "expected `;`, a new line or the end here";
        let error = CallError::new(self.unexpected(), self.token.span, note);
        match self.token.kind {
            TokenKind::Sign(')') => error.hint("there is one `)` too many"),
            _ => error.hint(ONLY_CALLS),
        }
    }

    /// Reads `(…)` after the name of a call.
    fn call(&mut self, word: &str, name: Span) -> Result<Call, CallError> {
        let Some((owner, action)) = split_name(word) else {
            let note = "expected name, provider.name or provider/session.name";
            return Err(CallError::new("not an action's name", name, note));
        };
        self.count_step(name)?;
        let open = self.enter_call()?;
        let mut args: Vec<Argument> = Vec::new();
        let mut names = HashSet::new();
        while !self.closes(')', open)? {
            self.check_count(args.len(), "arguments")?;
            let arg = self.argument()?;
            match &arg.name {
                Some((name, span)) if !names.insert(name.clone()) => {
                    let note = format!("{} is given twice", clip(name));
                    return Err(CallError::new("duplicate argument", *span, note));
                }
                None if !names.is_empty() => {
                    let note = "positional after named: name this one too, or put it first";
                    return Err(CallError::new("argument without a name", arg.span, note));
                }
                _ => args.push(arg),
            }
            self.separator(')', open)?;
        }
        let end = self.leave()?;
        let span = Span { start: name.start, end };
        Ok(Call { owner, action: action.to_owned(), name, args, span })
    }

    fn argument(&mut self) -> Result<Argument, CallError> {
        let first = self.advance()?;
        let names = matches!(self.token.kind, TokenKind::Sign('=' | ':'));
        match first.kind {
            TokenKind::Word(word) if names => {
                if !is_name(word) {
                    let note = "expected name=value; a text stands in quotes";
                    return Err(CallError::new("not a parameter's name", first.span, note));
                }
                self.advance()?;
                let value = self.advance()?;
                let (value, span) = self.expr(value)?;
                Ok(Argument { name: Some((word.to_owned(), first.span)), value, span })
            }
            TokenKind::Text(_) | TokenKind::Quoted(_) if names => {
                let note = "a parameter's name stands without quotes: name=value";
                Err(CallError::new("name in quotes", first.span, note))
            }
            _ => {
                let (value, span) = self.expr(first)?;
                Ok(Argument { name: None, value, span })
            }
        }
    }

    /// Reads an expression whose first token has been read.
    pub(super) fn expr(&mut self, first: Token<'a>) -> Result<(Expr, Span), CallError> {
        let span = first.span;
        let value = match first.kind {
            TokenKind::Number(number) => Expr::Value(number),
            TokenKind::Text(text) => Expr::Value(Value::Str(text)),
            TokenKind::Quoted(text) if self.undecided => Expr::Quoted(text),
            TokenKind::Quoted(text) => Expr::Value(Value::Str(text.text?)),
            TokenKind::Ref(reference) => Expr::Ref(reference),
            TokenKind::Sign('[') => return self.list(span),
            TokenKind::Sign('{') => return self.record(span),
            TokenKind::Word(word) if self.token.kind == TokenKind::Sign('(') => {
                let call = self.call(word, span)?;
                let span = call.span;
                return Ok((Expr::Call(Box::new(call)), span));
            }
            TokenKind::Word(word) => self.word(word, span)?,
            TokenKind::Dash => {
                let note = "expected a value; standard input is named stdin";
                return Err(CallError::new("unexpected `-`", span, note)
                    .hint("write text=stdin in place of text=-"));
            }
            kind => {
                let note = "expected a value: 'text', 42, true, null, obj:23, [list], {name: value} or a call";
                return Err(CallError::new(describe(&kind, self.lexer.code, span), span, note));
            }
        };
        Ok((value, span))
    }

    /// Reads the items of a list after its `[`.
    fn list(&mut self, open: Span) -> Result<(Expr, Span), CallError> {
        self.enter_nesting(open)?;
        let mut items = Vec::new();
        while !self.closes(']', open)? {
            self.check_count(items.len(), "items")?;
            let first = self.advance()?;
            items.push(self.expr(first)?);
            self.separator(']', open)?;
        }
        let end = self.leave()?;
        Ok((Expr::List(items), Span { start: open.start, end }))
    }

    fn word(&mut self, word: &str, span: Span) -> Result<Expr, CallError> {
        Ok(Expr::Value(match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" => Value::Null,
            "undefined" | "nil" | "NULL" => {
                let note = "write null, or leave the argument out";
                return Err(CallError::new("not a value", span, note));
            }
            "stdin" => Value::Str(self.stdin(span)?.to_owned()),
            _ => {
                let Some((owner, name)) = split_name(word) else {
                    let note = "neither a value nor a name: a text stands in quotes";
                    return Err(CallError::new("not a value", span, note));
                };
                return Ok(Expr::Name { owner, name: name.to_owned() });
            }
        }))
    }

    fn stdin(&mut self, span: Span) -> Result<&'a str, CallError> {
        if self.stdin_used {
            let note = "standard input can be used once a run";
            return Err(CallError::new("stdin used twice", span, note)
                .hint("give the other text as a raw block: text=<<END"));
        }
        self.stdin_used = true;
        match self.stdin {
            Some(text) if !text.is_empty() => Ok(drop_newline(text)),
            _ => {
                let note = "pipe the text in, e.g. … <<'EOF'";
                Err(CallError::new("stdin is empty", span, note)
                    .hint("or give the text in place: text='…', or a raw block text=<<END"))
            }
        }
    }

    /// Returns the next token. Inside parentheses and brackets a newline is white space.
    pub(super) fn advance(&mut self) -> Result<Token<'a>, CallError> {
        let next = self.lexer.token()?;
        let token = std::mem::replace(&mut self.token, next);
        while self.depth > 0 && self.token.kind == TokenKind::Newline {
            self.token = self.lexer.token()?;
        }
        Ok(token)
    }

    pub(super) fn enter_nesting(&mut self, open: Span) -> Result<(), CallError> {
        if self.depth == NESTING_MAX {
            let note = format!("calls, lists and records nest at most {NESTING_MAX} deep");
            return Err(CallError::new("nested too deep", open, note));
        }
        self.depth += 1;
        Ok(())
    }

    /// Reads the opening parenthesis.
    fn enter_call(&mut self) -> Result<Span, CallError> {
        self.enter_nesting(self.token.span)?;
        self.advance().map(|open| open.span)
    }

    /// Reads the closing sign and returns its end.
    pub(super) fn leave(&mut self) -> Result<usize, CallError> {
        self.depth -= 1;
        self.advance().map(|close| close.span.end)
    }

    /// Returns true if the closing sign comes next.
    pub(super) fn closes(&self, close: char, open: Span) -> Result<bool, CallError> {
        match self.token.kind {
            TokenKind::End => Err(unclosed(close, open)),
            TokenKind::Sign(sign) => Ok(sign == close),
            _ => Ok(false),
        }
    }

    /// Reads a comma, unless the closing sign comes next.
    pub(super) fn separator(&mut self, close: char, open: Span) -> Result<(), CallError> {
        match self.token.kind {
            TokenKind::Sign(',') => self.advance().map(drop),
            TokenKind::Sign(sign) if sign == close => Ok(()),
            TokenKind::End => Err(unclosed(close, open)),
            _ => {
                let note = format!("expected `,` or `{close}` here");
                Err(CallError::new(self.unexpected(), self.token.span, note))
            }
        }
    }

    pub(super) fn check_count(&self, count: usize, what: &str) -> Result<(), CallError> {
        if count < LIST_MAX {
            return Ok(());
        }
        let note = format!("at most {LIST_MAX} are allowed");
        Err(CallError::new(format!("too many {what}"), self.token.span, note))
    }

    fn count_step(&mut self, span: Span) -> Result<(), CallError> {
        self.steps += 1;
        if self.steps <= STEPS_MAX {
            return Ok(());
        }
        let note = format!("a run has at most {STEPS_MAX} calls, nested ones included");
        Err(CallError::new("too many steps", span, note).hint("send the rest as another run"))
    }

    pub(super) fn unexpected(&self) -> String {
        describe(&self.token.kind, self.lexer.code, self.token.span)
    }
}

fn describe(kind: &TokenKind<'_>, code: &str, span: Span) -> String {
    match kind {
        TokenKind::End => "unexpected end".to_owned(),
        TokenKind::Newline => "unexpected line end".to_owned(),
        TokenKind::Text(_) | TokenKind::Quoted(_) => "unexpected text".to_owned(),
        _ => format!("unexpected `{}`", clip(&code[span.start..span.end])),
    }
}

fn unclosed(close: char, open: Span) -> CallError {
    CallError::new(format!("missing `{close}`"), open, "this is never closed")
}
