// What a transcript costs, in the tokens of two vocabularies. The ranks come with the package; nothing is fetched.
import { encode as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base";

export const vocabularies = { o200k, cl100k };

// Counts a transcript: `once` is each text once; `work` is that without what teaches, which is the definitions and the
// help; `sent` is what goes over the wire to and from the model, which gets the whole conversation again for each turn,
// and once more for its last words; `parts` are the texts by size.
export function count(transcript, vocabulary) {
  // In pieces, since the encoder has no stack for megabytes.
  const tokens = (text) => {
    let sum = 0;
    for (let at = 0; at < text.length; at += 20_000) sum += vocabulary(text.slice(at, at + 20_000)).length;
    return sum;
  };
  const parts = [];
  const note = (label, text) => {
    const size = tokens(text);
    parts.push({ label, size });
    return size;
  };
  let context = transcript.definitions.reduce((sum, { label, text }) => sum + note(label, text), 0);
  let teaching = context;
  let sent = 0;
  for (const turn of transcript.turns) {
    sent += context;
    for (const { label, wrote, read } of turn) {
      const written = note(`written: ${label}`, wrote);
      const both = written + note(`read: ${label}`, read);
      sent += written;
      context += both;
      teaching += turn.teaches ? both : 0;
    }
  }
  sent += context;
  parts.sort((one, other) => other.size - one.size);
  return { once: context, work: context - teaching, sent, turns: transcript.turns.length, calls: transcript.calls, parts };
}

// Returns what one agent would have that did several tasks in one session: each definition and each help call once.
export function joined(transcripts) {
  const definitions = new Map(transcripts.flatMap((one) => one.definitions).map((one) => [one.label, one]));
  const learned = new Set();
  const turns = transcripts.flatMap((one) => one.turns).filter((turn) => {
    const again = turn.teaches && learned.has(turn[0].label);
    if (turn.teaches) learned.add(turn[0].label);
    return !again;
  });
  const calls = turns.reduce((sum, turn) => sum + turn.length, 0);
  return { definitions: [...definitions.values()], turns, calls };
}
