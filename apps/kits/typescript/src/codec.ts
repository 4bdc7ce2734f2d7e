/** MessagePack, as much of it as the protocol uses, and the frames around it. */

const FRAME_MAX = 1_048_576;

/** A decoded map. */
export type Body = Record<string, any>;

/** Encodes a value. Numbers without a fraction become integers. */
export function pack(value: unknown): Buffer {
  if (value === null || value === undefined) return Buffer.of(0xc0);
  if (typeof value === "boolean") return Buffer.of(value ? 0xc3 : 0xc2);
  if (typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value))) {
    if (value >= 0 && value < 128) return Buffer.of(Number(value));
    const bytes = Buffer.alloc(9, value >= 0 ? 0xcf : 0xd3);
    if (value >= 0) bytes.writeBigUInt64BE(BigInt(value), 1);
    else bytes.writeBigInt64BE(BigInt(value), 1);
    return bytes;
  }
  if (typeof value === "number") {
    const bytes = Buffer.alloc(9, 0xcb);
    bytes.writeDoubleBE(value, 1);
    return bytes;
  }
  if (typeof value === "string") return sized(0xdb, Buffer.byteLength(value), [Buffer.from(value)]);
  if (value instanceof Uint8Array) return sized(0xc6, value.length, [value]);
  if (Array.isArray(value)) return sized(0xdd, value.length, value.map(pack));
  if (typeof value !== "object") throw new TypeError(`a ${typeof value} can't be sent`);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return sized(0xdf, entries.length, entries.flat().map(pack));
}

function sized(tag: number, size: number, parts: readonly Uint8Array[]): Buffer {
  const head = Buffer.alloc(5, tag);
  head.writeUInt32BE(size, 1);
  return Buffer.concat([head, ...parts]);
}

/** Decodes the value at an offset. Returns it with the offset behind it. */
export function unpack(data: Buffer, start = 0): [value: any, end: number] {
  let at = start + 1;
  const take = (size: number) => data.subarray(at, (at += size));
  const uint = (size: number): any => (size < 8 ? take(size).readUIntBE(0, size) : small(take(8).readBigUInt64BE()));
  const int = (size: number): any => (size < 8 ? take(size).readIntBE(0, size) : small(take(8).readBigInt64BE()));
  const list = (size: number): any[] => Array.from({ length: size }, next);
  const map = (size: number): Body => Object.fromEntries(Array.from({ length: size }, () => [next(), next()]));
  const tag = data.readUInt8(start);
  return [value(), at];

  function next(): any {
    const [item, end] = unpack(data, at);
    at = end;
    return item;
  }
  function value(): any {
    if (tag < 0x80 || tag >= 0xe0) return tag < 0x80 ? tag : tag - 256;
    if (tag < 0xc0) return tag < 0x90 ? map(tag & 15) : tag < 0xa0 ? list(tag & 15) : take(tag & 31).toString();
    if (tag <= 0xc3) return tag === 0xc0 ? null : tag === 0xc3;
    if (tag <= 0xc6) return take(uint(1 << (tag - 0xc4)));
    if (tag <= 0xcb) return tag === 0xca ? take(4).readFloatBE() : take(8).readDoubleBE();
    if (tag <= 0xd3) return tag < 0xd0 ? uint(1 << (tag - 0xcc)) : int(1 << (tag - 0xd0));
    if (tag <= 0xdb) return take(uint(1 << (tag - 0xd9))).toString();
    return tag < 0xde ? list(uint(2 << (tag - 0xdc))) : map(uint(2 << (tag - 0xde)));
  }
}

const small = (value: bigint) => (BigInt.asIntN(53, value) === value ? Number(value) : value);

/** Makes a frame of an envelope of five numbers and an encoded body. */
export function encodeFrame(envelope: unknown[], body: Uint8Array): Buffer {
  const frame = Buffer.concat([Buffer.of(0x95), ...envelope.map(pack), body]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(frame.length);
  return Buffer.concat([length, frame]);
}

/** Takes the whole frames from the front of received bytes. Returns them with the rest. */
export function takeFrames(data: Buffer): [frames: [envelope: any[], body: Buffer][], rest: Buffer] {
  const frames: [any[], Buffer][] = [];
  if (data.length >= 4 && data.readUInt32BE() > FRAME_MAX) throw new RangeError("this is no frame");
  while (data.length >= 4 && data.length >= 4 + data.readUInt32BE()) {
    const frame = data.subarray(4, 4 + data.readUInt32BE());
    const [envelope, at] = unpack(frame);
    frames.push([envelope, frame.subarray(at)]);
    data = data.subarray(4 + frame.length);
  }
  return [frames, data];
}
