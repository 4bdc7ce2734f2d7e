/** What an app shows: a window's content, links, and the outcome of an action. */

import type { Action } from "./app.ts";
import { pack, type Body } from "./codec.ts";
import { Mistake } from "./errors.ts";
import { isThing, type Given, type Params, type Thing } from "./params.ts";

/** An action with its arguments, carried out by a click. */
export class Link {
  readonly label: string;
  readonly action: Action<any, any>;
  readonly args: Record<string, unknown>;
  /** True for a link whose call is shown, too. */
  isTitled = false;
  /** True for a link whose arguments name the change that it takes back. */
  isLasting = false;

  constructor(label: string, action: Action<any, any>, args: Record<string, unknown>) {
    this.label = label;
    this.action = action;
    this.args = args;
  }
  /** Shows the call, too, for arguments that a reader may want to change. */
  titled(): Link {
    return Object.assign(new Link(this.label, this.action, this.args), this, { isTitled: true });
  }
}

/** Makes a link to an action: `link("attack", attack, { target: enemy })`. */
export function link<P extends Params>(label: string, action: Action<any, P>, args: Given<P>): Link {
  const { params, name } = action;
  if (name === "") throw new Mistake(`link "${label}": its action isn't among the app's actions`);
  const unknown = Object.keys(args).find((each) => !(each in params));
  const missing = Object.keys(params).find((each) => !(each in args) && params[each]!.wire.default === undefined);
  if (unknown !== undefined) throw new Mistake(`link "${label}": ${name} has no parameter ${unknown}`);
  if (missing !== undefined) throw new Mistake(`link "${label}": ${name} needs ${missing}`);
  return new Link(label, action, args);
}

/** Exact text, shown in a fence. */
export class Code {
  readonly text: string;
  readonly lang: string;

  constructor(text: string, lang = "") {
    this.text = text;
    this.lang = lang;
  }
}

/** What content is made of. */
export type Piece = string | number | Thing | Link | Code;
/** What an app says of a thing: its revision, and its image, sound or file. */
export interface About {
  rev(thing: Thing): number;
  media(thing: Thing): Body | undefined;
}

/** A thing as messages refer to it. */
export const refOf = (thing: Thing, about: About): Body => ({
  key: thing.key,
  rev: about.rev(thing),
  type: thing.type,
});

function argOf(value: unknown, about: About): Body {
  if (Array.isArray(value)) return { list: value.map((item) => argOf(item, about)) };
  return isThing(value) ? { ref: refOf(value, about) } : { value: pack(value) };
}

/** A link as messages have it. */
export function linkSlot({ label, action, args, isTitled, isLasting }: Link, about: About): Body {
  const given = Object.entries(args).filter(([, value]) => value !== undefined);
  const encoded = Object.fromEntries(given.map(([name, value]) => [name, argOf(value, about)]));
  return { label, action: action.name, args: encoded, titled: isTitled, lasting: isLasting };
}

function slot(piece: Piece, about: About): Body {
  if (typeof piece !== "object") return { text: String(piece) };
  if (piece instanceof Link) return { link: linkSlot(piece, about) };
  if (piece instanceof Code) return { code: { lang: piece.lang, text: piece.text } };
  return { object: { ...refOf(piece, about), label: piece.label, media: about.media(piece) } };
}

/** Pieces, or a template that holds some: view.line`- ${item} ${link("done", done, { item })}` */
export type Content = [first: TemplateStringsArray | Piece, ...rest: Piece[]];

/** The content of a window. Pieces are shown in the order in which they are added. */
export class View {
  /** The level of detail that is asked for: "gist", "summary" or "full". */
  lod = "full";
  /** About how many tokens, of 4 characters, the content may take. */
  budget = 4000;
  /** Who reads, if the daemon says so. */
  reader = "";
  /** The heading behind the session's address: `3 to do`. */
  title = "";
  /** Which part of the whole is shown: `lines 1-40`. */
  position: string | null = null;
  /** Links in the row under the heading. */
  nav: Link[] = [];
  /** Values of the app's own, for `pipemux view --json`. */
  custom: Record<string, unknown> = {};
  private pieces: Piece[] = [];
  private actions: string[] | null = null;
  private focused: [name: string, thing: Thing] | null = null;

  /** Adds Markdown, things, links and code. */
  write(...[first, ...rest]: Content): this {
    if (typeof first !== "object" || !("raw" in first)) this.pieces.push(first, ...rest);
    else first.forEach((text, n) => this.pieces.push(text, ...rest.slice(n, n + 1)));
    return this;
  }
  /** Adds pieces and a line end. */
  line(...content: Content): this {
    return this.write(...content).write("\n");
  }
  /** Adds a table. */
  table(head: string[], rows: Piece[][]): this {
    this.line(`| ${head.join(" | ")} |`);
    this.line(`|${head.map((each) => "-".repeat(Math.max(each.length, 3) + 2)).join("|")}|`);
    for (const row of rows) this.line("", ...row.flatMap((cell) => ["| ", cell, " "]), "|");
    return this;
  }
  /** Adds links in a line each, with their calls. */
  menu(...links: Link[]): this {
    for (const each of links) this.line`- ${each.titled()}`;
    return this;
  }
  /** Limits the actions that the window offers; without this it offers all. */
  only(...actions: Action<any, any>[]): this {
    this.actions = actions.map((each) => each.name);
    return this;
  }
  /** Sets the thing that has the focus, and a name that calls may use for it. */
  focus(thing: Thing, name = "selection"): this {
    this.focused = [name, thing];
    return this;
  }
  /** The pieces as messages have them; neighbouring texts are one. */
  content(about: About): Body[] {
    const slots: Body[] = [];
    for (const each of this.pieces.map((piece) => slot(piece, about))) {
      const last = slots.at(-1);
      if ("text" in each && last && "text" in last) last.text += each.text;
      else slots.push(each);
    }
    return slots;
  }
  /** The view as a message. */
  body(about: About): Body {
    const { title, position, custom, actions } = this;
    const nav = this.nav.map((each) => linkSlot(each, about));
    const [name = "", thing] = this.focused ?? [];
    const names = thing && { [name]: slot(thing, about).object };
    return { title, position, custom, actions, nav, focus: thing?.key, names, content: this.content(about) };
  }
}

/** An action took effect: `new Done("2 of 3 matches", { value: 2 })`. */
export class Done {
  readonly brief: string;
  /** What a script or another app gets; `returns` of the action names its type. */
  readonly value: unknown;
  /** More lines, shown on request. */
  readonly detail: string | undefined;
  /** True if the action took changes back, such as undo and redo. */
  readonly reverts: boolean;
  readonly links: Link[] = [];
  readonly content = new View();

  constructor(brief = "", { value, detail, reverts }: { value?: unknown; detail?: string; reverts?: boolean } = {}) {
    this.brief = brief;
    this.value = value;
    this.detail = detail;
    this.reverts = reverts ?? false;
  }
  /** Shows content below the brief: a query's result. */
  show(...content: Content): this {
    this.content.write(...content);
    return this;
  }
  /** Adds a link to a likely next action. */
  link<P extends Params>(label: string, action: Action<any, P>, args: Given<P>): this {
    this.links.push(link(label, action, args));
    return this;
  }
  /** Adds the link that takes this change back: the arguments name the change. */
  undoneBy<P extends Params>(action: Action<any, P>, args: Given<P>): this {
    const made = link(this.reverts ? "redo" : "undo", action, args);
    this.links.push(Object.assign(made, { isLasting: true }));
    return this;
  }
  /** The outcome as a message, which lacks the version. */
  body(about: About): Body {
    const { brief, detail, reverts } = this;
    const value = this.value === undefined ? undefined : pack(this.value);
    const links = this.links.map((each) => linkSlot(each, about));
    return { brief, detail, reverts, value, links, content: this.content.content(about) };
  }
}
