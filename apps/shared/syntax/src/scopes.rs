//! Resolves names to variables, within one function and its nested functions.
//!
//! A binder declares names and notes uses while it walks the tree. Uses are resolved at the end, so
//! that a name may be used before the place that declares it.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::Node;

/// The kind of access to the variable itself (`x.y = 1` only reads `x`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    ReadWrite,
}

impl Access {
    pub(crate) fn reads(self) -> bool {
        self != Self::Write
    }

    pub(crate) fn writes(self) -> bool {
        self != Self::Read
    }
}

/// One use of a variable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use<'t> {
    pub node: Node<'t>,
    pub access: Access,
    /// The innermost enclosing function: an index into [`Scopes::functions`].
    pub function: usize,
}

/// The kind of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyword {
    Parameter,
    /// A named result, in Go.
    NamedResult,
    Let,
    Const,
    Var,
    /// A function or class, as a value.
    Function,
    /// Something that can't be passed on as a value.
    Item,
    /// A pattern of a loop, a match, a `catch` and the like.
    Pattern,
}

/// A declaration of a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Declaration<'t> {
    pub name: Node<'t>,
    pub keyword: Keyword,
    /// The declared type, if there is one.
    pub ty: Option<Node<'t>>,
    /// The initial value, if it belongs to this name alone.
    pub init: Option<Node<'t>>,
    pub mutable: bool,
    /// True if it gets a value again and again.
    pub in_loop: bool,
}

impl<'t> Declaration<'t> {
    pub(crate) fn new(name: Node<'t>, keyword: Keyword) -> Self {
        Self { name, keyword, ty: None, init: None, mutable: false, in_loop: false }
    }
}

/// A variable.
#[derive(Debug)]
pub(crate) struct Binding<'t> {
    pub name: String,
    pub declarations: Vec<Declaration<'t>>,
    pub uses: Vec<Use<'t>>,
    /// The function that the variable belongs to.
    pub function: usize,
    /// The byte range in which the variable can be used.
    pub scope: Range<usize>,
}

impl Binding<'_> {
    /// The position of the first declaration; every binding has one.
    pub(crate) fn declared(&self) -> usize {
        self.declarations.iter().map(|one| one.name.start_byte()).min().unwrap_or_default()
    }

    pub(crate) fn keyword(&self) -> Keyword {
        self.declarations.first().map_or(Keyword::Item, |one| one.keyword)
    }

    pub(crate) fn uses_in<'s>(&'s self, range: &Range<usize>) -> impl Iterator<Item = &'s Use<'s>> {
        let range = range.clone();
        self.uses.iter().filter(move |one| range.contains(&one.node.start_byte()))
    }

    pub(crate) fn is_declared_in(&self, range: &Range<usize>) -> bool {
        self.declarations.iter().any(|one| range.contains(&one.name.start_byte()))
    }

    /// True if a function within the one that it belongs to uses it.
    pub(crate) fn is_captured(&self) -> bool {
        self.uses.iter().any(|one| one.function != self.function)
    }
}

#[derive(Debug)]
struct ScopeNode {
    parent: Option<usize>,
    function: usize,
    range: Range<usize>,
    /// True for the body of a class, whose names functions in it don't see.
    class: bool,
    /// The bindings by name, with the byte from which each is visible.
    names: HashMap<String, Vec<(usize, usize)>>,
}

#[derive(Debug)]
struct PendingUse<'t> {
    scope: usize,
    name: String,
    found: Use<'t>,
}

/// The scopes of one function.
#[derive(Debug, Default)]
pub(crate) struct Scopes<'t> {
    scopes: Vec<ScopeNode>,
    pending: Vec<PendingUse<'t>>,
    functions: usize,
    pub bindings: Vec<Binding<'t>>,
    /// Names written that belong to a module or to a function outside.
    pub outer_writes: Vec<Node<'t>>,
}

impl<'t> Scopes<'t> {
    /// Opens a scope in another one.
    pub(crate) fn open(&mut self, parent: Option<usize>, range: Range<usize>) -> usize {
        let function = parent.map_or(0, |parent| self.scopes[parent].function);
        self.scopes.push(ScopeNode {
            parent,
            function,
            range,
            class: false,
            names: HashMap::new(),
        });
        self.scopes.len() - 1
    }

    /// Opens the scope of a function in another scope.
    pub(crate) fn open_function(&mut self, parent: Option<usize>, range: Range<usize>) -> usize {
        let scope = self.open(parent, range);
        if parent.is_some() {
            self.functions += 1;
        }
        self.scopes[scope].function = self.functions;
        scope
    }

    /// Opens the scope of a class's body.
    pub(crate) fn open_class(&mut self, parent: usize, range: Range<usize>) -> usize {
        let scope = self.open(Some(parent), range);
        self.scopes[scope].class = true;
        scope
    }

    /// The outermost scope of the function that contains a scope.
    pub(crate) fn function_scope(&self, scope: usize) -> usize {
        let function = self.scopes[scope].function;
        let mut outermost = scope;
        while let Some(parent) = self.scopes[outermost].parent {
            if self.scopes[parent].function != function || self.scopes[outermost].class {
                break;
            }
            outermost = parent;
        }
        outermost
    }

    /// True if a scope itself declares a name before a byte.
    pub(crate) fn declares(&self, scope: usize, name: &str, before: usize) -> bool {
        let known = self.scopes[scope].names.get(name);
        known.is_some_and(|all| all.iter().any(|(from, _)| *from <= before))
    }

    /// Declares a name that is visible from a byte on. With `merge`, a name that the scope has
    /// already stays one variable.
    pub(crate) fn declare(
        &mut self,
        scope: usize,
        name: &str,
        visible_from: usize,
        merge: bool,
        declaration: Declaration<'t>,
    ) {
        let known = self.scopes[scope].names.entry(name.to_owned()).or_default();
        let same = |(from, _): &&(usize, usize)| merge || *from == visible_from;
        if let Some((_, binding)) = known.iter().rev().find(same) {
            self.bindings[*binding].declarations.push(declaration);
            return;
        }
        known.push((visible_from, self.bindings.len()));
        self.bindings.push(Binding {
            name: name.to_owned(),
            declarations: vec![declaration],
            uses: Vec::new(),
            function: self.scopes[scope].function,
            scope: self.scopes[scope].range.clone(),
        });
    }

    /// Notes a use.
    pub(crate) fn note(&mut self, scope: usize, name: &str, node: Node<'t>, access: Access) {
        let function = self.scopes[scope].function;
        let found = Use { node, access, function };
        self.pending.push(PendingUse { scope, name: name.to_owned(), found });
    }

    /// Notes a use that is resolved from the function around this one on.
    pub(crate) fn note_outer(&mut self, scope: usize, name: &str, node: Node<'t>, access: Access) {
        let function = self.scopes[scope].function;
        match self.scopes[self.function_scope(scope)].parent {
            Some(scope) => {
                let found = Use { node, access, function };
                self.pending.push(PendingUse { scope, name: name.to_owned(), found });
            }
            None if access.writes() => self.outer_writes.push(node),
            None => {}
        }
    }

    /// Resolves every use.
    pub(crate) fn resolve(&mut self) {
        for PendingUse { scope, name, found } in std::mem::take(&mut self.pending) {
            match self.lookup(scope, &name, found.node.start_byte()) {
                Some(binding) => self.bindings[binding].uses.push(found),
                None if found.access.writes() => self.outer_writes.push(found.node),
                None => {}
            }
        }
        for binding in &mut self.bindings {
            binding.uses.sort_by_key(|one| one.node.start_byte());
        }
    }

    fn lookup(&self, from: usize, name: &str, at: usize) -> Option<usize> {
        let mut next = Some(from);
        while let Some(scope) = next.map(|scope| &self.scopes[scope]) {
            let hidden = scope.class && scope.function != self.scopes[from].function;
            let visible = scope
                .names
                .get(name)
                .filter(|_| !hidden)
                .and_then(|all| all.iter().rfind(|(visible_from, _)| *visible_from <= at));
            if let Some((_, binding)) = visible {
                return Some(*binding);
            }
            next = scope.parent;
        }
        None
    }
}
