// node js/benchmark.mjs KIND WORDS: counts the words of a generated text, and prints what it took.
import { countWords } from "./concordance.mjs";
import { kinds } from "./generate-text.mjs";

const [kind = "prose", words = "10000"] = process.argv.slice(2);
const table = countWords(kinds[kind](Number(words)));
process.stdout.write(`different words: ${table.size}\nprobes: ${table.probes}\n`);
