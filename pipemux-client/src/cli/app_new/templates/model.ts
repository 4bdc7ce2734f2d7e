/** The to-do list itself. */

import type { Thing } from "./pipemux/index.ts";

export interface Todo { items: Thing[]; count: number }

export const empty = (): Todo => ({ items: [], count: 0 });

export function add(todo: Todo, text: string): void {
  todo.count += 1;
  // A thing has a key, which is never used again, and the label that is shown.
  todo.items.push({ key: `i${todo.count}`, type: "item", label: text });
}

export function edit(item: Thing, text: string): void {
  item.label = text;
}

export function finish(todo: Todo, item: Thing): void {
  todo.items = todo.items.filter((each) => each !== item);
}

export const brief = (todo: Todo): string => `${todo.items.length} to do`;
