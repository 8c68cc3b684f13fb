// A test that sometimes fails, on purpose, as such tests do: it reads the clock twice. When a second ends between
// the two, it sees two different times. The farm knows this failure by its text and runs the job again.
import { countWords } from "../js/concordance.mjs";
import { kinds } from "../js/generate-text.mjs";

const before = thisSecond();
const until = Date.now() + 400;
while (Date.now() < until) countWords(kinds.prose(1_000));
const after = thisSecond();

if (before !== after) {
  process.stdout.write(`FAILED: expected the time stamp ${before}, got ${after}\n`);
  process.exit(1);
}
process.stdout.write(`ok: both time stamps are ${before}\n`);

function thisSecond() {
  return new Date().toISOString().slice(0, 19);
}
