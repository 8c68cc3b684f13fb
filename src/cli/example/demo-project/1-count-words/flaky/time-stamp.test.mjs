// A test that sometimes fails, on purpose, as such tests do: it takes for granted that a report which is begun now
// and takes 0.3 s ends within the same second. Three times in ten that is wrong. The farm knows this
// failure by its text and runs the job again; eleven failures in a row are one chance in half a million.
import { countWords } from "../js/concordance.mjs";
import { kinds } from "../js/generate-text.mjs";

const reportMs = 300;

const begun = Date.now();
countWords(kinds.prose(1_000));
const expected = timeStamp(begun);
const actual = timeStamp(begun + reportMs);

if (expected !== actual) {
  process.stdout.write(`FAILED: expected the time stamp ${expected}, got ${actual}\n`);
  process.exit(1);
}
process.stdout.write(`ok: both time stamps are ${expected}\n`);

function timeStamp(ms) {
  return new Date(ms).toISOString().slice(0, 19);
}
