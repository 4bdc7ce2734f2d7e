/** Images and other values that are no text. */

import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";

import type { Body } from "./codec.ts";
import { Fault } from "./errors.ts";

export const IMAGE_BYTES_MAX = 16 << 20;
const UNKNOWN = "application/octet-stream";
/** Of an image, so many bytes are looked at for its size in pixels. */
const HEADER_BYTES_MAX = 1 << 16;

/** What a thing's value is: an image, a sound or a file. Return one from the app's `media`. */
export class Image {
  readonly source: string | Uint8Array;
  readonly type: string | undefined;

  /** The absolute path of a file, or bytes. The type of common images is found, whatever is named; name others: `audio/wav`. */
  constructor(source: string | Uint8Array, type?: string) {
    this.source = source;
    this.type = type;
  }
  /** What a window shows of it; undefined if its file can't be read. */
  slot(): Body | undefined {
    try {
      const bytes = this.size();
      const head = typeof this.source === "string" ? headOf(this.source) : Buffer.from(this.source.subarray(0, HEADER_BYTES_MAX));
      const [type, [width, height] = []] = look(head);
      return { type: type === UNKNOWN ? (this.type ?? type) : type, bytes, width, height };
    } catch {
      return undefined;
    }
  }
  /** Its bytes. Throws a Fault if there are more than 16 MiB, and an error without its file. */
  read(): Buffer {
    const size = this.size();
    if (size > IMAGE_BYTES_MAX) {
      throw new Fault(`it has ${size} bytes; at most ${IMAGE_BYTES_MAX} can be read`, { code: "refused" });
    }
    return typeof this.source === "string" ? readFileSync(this.source) : Buffer.from(this.source);
  }
  private size(): number {
    return typeof this.source === "string" ? statSync(this.source).size : this.source.length;
  }
}

function headOf(path: string): Buffer {
  const [file, head] = [openSync(path, "r"), Buffer.alloc(HEADER_BYTES_MAX)];
  try {
    return head.subarray(0, readSync(file, head));
  } finally {
    closeSync(file);
  }
}

/** The type of an image, and its width and height, as far as its first bytes tell them. */
function look(head: Buffer): [type: string, size?: [width: number, height: number] | undefined] {
  const starts = (text: string, at = 0) => head.toString("latin1", at, at + text.length) === text;
  if (starts("\x89PNG\r\n\x1a\n")) {
    return ["image/png", head.length >= 24 ? [head.readUInt32BE(16), head.readUInt32BE(20)] : undefined];
  }
  if (starts("GIF87a") || starts("GIF89a")) {
    return ["image/gif", head.length >= 10 ? [head.readUInt16LE(6), head.readUInt16LE(8)] : undefined];
  }
  if (starts("\xff\xd8\xff")) return ["image/jpeg", jpegSize(head)];
  return [starts("RIFF") && starts("WEBP", 8) ? "image/webp" : UNKNOWN];
}

function jpegSize(head: Buffer): [number, number] | undefined {
  for (let at = 2; at + 9 <= head.length && head[at] === 0xff; at += 2 + head.readUInt16BE(at + 2)) {
    const marker = head[at + 1]!;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [head.readUInt16BE(at + 7), head.readUInt16BE(at + 5)];
  }
  return undefined;
}
