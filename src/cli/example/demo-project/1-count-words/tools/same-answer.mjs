// node tools/same-answer.mjs COMMAND FILE…: do the C library and the JavaScript modules count alike?
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { countWords } from "../js/concordance.mjs";

const [command, ...files] = process.argv.slice(2);
for (const file of files) {
  const table = countWords(readFileSync(file, "utf8"));
  const lines = table.entries().map(({ word, count }) => `${count}\t${word}`);
  const expected = [...lines, `probes: ${table.probes}`, ""].join("\n");
  const actual = execFileSync(command, [file], { encoding: "utf8" });
  if (actual !== expected) {
    const at = actual.split("\n").findIndex((line, index) => line !== expected.split("\n")[index]);
    process.stderr.write(
      `${file}, line ${at + 1} of the answer: C has "${actual.split("\n")[at]}", JavaScript "${expected.split("\n")[at]}"\n`,
    );
    process.exit(1);
  }
  process.stdout.write(`${file}: ${table.size} words, ${table.probes} probes, the same in both\n`);
}
