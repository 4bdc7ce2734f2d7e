/** The to-do list itself. */

import { newKey, type Thing } from "./pipemux/index.ts";

export interface Todo { items: Thing[] }

export const empty = (): Todo => ({ items: [] });

export function add(todo: Todo, text: string): void {
  // A thing has a key, which is never used again, and the label that is shown.
  todo.items.push({ key: newKey(), type: "item", label: text });
}

export function edit(item: Thing, text: string): void {
  item.label = text;
}

export function finish(todo: Todo, item: Thing): void {
  todo.items = todo.items.filter((each) => each !== item);
}

export const brief = (todo: Todo): string => `${todo.items.length} to do`;
