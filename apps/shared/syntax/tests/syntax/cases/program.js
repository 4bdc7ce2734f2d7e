'use strict';

const LIMIT = 7;
const log = [];

function note(...what) {
  log.push(JSON.stringify(what));
}

function loops(numbers) {
  let total = 0;
  let last = null;
  for (const [index, number] of numbers.entries()) {
    if (last !== null && number < last) {
      note('down', last, number);
    }
    if (number > LIMIT) {
      note('skip', number);
      continue;
    }
    total += number;
    let half = Math.floor(number / 2);
    while (half > 0) {
      half -= 2;
      if (half === 1) break;
      total += half;
    }
    last = number;
    note(index, total, half);
  }
  for (var i = 0; i < 2; i++) {
    total += i;
  }
  note(i, total);
  outer: for (let a = 0; a < 3; a++) {
    for (let b = 0; b < 3; b++) {
      if (b === 1) continue outer;
      total += a * b;
    }
  }
  return { total, last };
}

function branches(a, b = 2, ...rest) {
  let kind;
  let gap = 0;
  if (a > b) {
    kind = 'more';
    gap = a - b;
  } else {
    kind = 'less';
  }
  const { length: size, [0]: head = 'none' } = rest;
  const text = `two
    lines ${kind}`;
  note(kind, gap, size, head, text);
  switch (size) {
    case 0:
      kind += '0';
      note('zero');
      break;
    case 1: {
      const one = rest[0];
      kind += one;
      break;
    }
    default:
      kind += '+';
  }
  if (head === 'stop') {
    const result = kind + head;
    return result;
  }
  return kind;
}

function guarded(values) {
  let seen = 0;
  let problem = null;
  for (const value of values) {
    let inverse = 0;
    try {
      seen += 1;
      if (value === 0) throw new Error('zero');
      inverse = 12 / value;
      note('inverse', inverse);
    } catch (error) {
      problem = error.message;
    } finally {
      note('seen', seen);
    }
    note(inverse, problem);
  }
  return [seen, problem];
}

function closures(n) {
  let count = 0;
  const base = n * 2;
  const step = (by) => {
    count += by;
    return count + base;
  };
  const first = step(1);
  const second = step(n);
  const makers = [];
  for (let i = 0; i < 3; i++) {
    const factor = i + base;
    makers.push((x) => x * factor);
  }
  const made = makers.map((make) => make(2));
  note(hoisted(first), made, count);
  function hoisted(x) {
    return x + base;
  }
  return [first, second, count];
}

class Shape {
  #secret = 1;
  static kind = 'shape';
  grow = (by) => {
    const before = this.sides;
    this.sides += by;
    note('grow', before);
    return this.sides - before;
  };

  constructor(sides) {
    this.sides = sides;
    const secret = sides * 3;
    this.#secret = secret;
  }

  describe(prefix) {
    const words = [prefix];
    words.push(this.#secret);
    if (this.sides > 3) {
      words.push('many');
    }
    const text = words.join(' ');
    note(text);
    return text;
  }

  static make(sides) {
    const made = new this(sides);
    note(this.kind, made.sides);
    return made;
  }
}

async function waits(n) {
  const first = await later(n);
  let second = first;
  for await (const one of counts(3)) {
    second += one;
    note('one', one);
  }
  const both = await Promise.all([later(first), later(second)]);
  note(both);
  return both;
}

async function later(n) {
  return n + 1;
}

async function* counts(n) {
  for (let i = 0; i < n; i++) {
    const doubled = i * 2;
    note('yields', doubled);
    yield doubled;
  }
}

async function main() {
  note(loops([3, 9, 4, 1, 7, 6]));
  note(branches(1), branches(2, 2, 'stop'), branches(5, 1, 'a', 'b'));
  note(guarded([1, 0, 3]));
  note(closures(3));
  const shape = Shape.make(4);
  const grown = shape.grow(2);
  note(grown, shape.describe('x'));
  note(await waits(2));
  console.log(log.join('\n'));
}

main();
