// `npm test`: installs what is missing, then asks each question in turn and stops at the first no.
import { spawnSync } from "node:child_process";
import { ensureInstalled } from "./ensure-installed.mjs";

ensureInstalled();

/** One question each, so that the answer names what is wrong. */
const questions = {
  format: "biome check",
  lint: "oxlint src test web bench scripts",
  types: "tsc",
  "types of the pages": "tsc -p tsconfig.web.json",
};

for (const [name, command] of Object.entries(questions)) {
  const started = Date.now();
  const answer = run(`npx --no-install ${command}`);
  const seconds = ((Date.now() - started) / 1_000).toFixed(1);
  console.log(`${answer === 0 ? "ok" : "FAILED"}  ${name} (${seconds} s)`);
  if (answer !== 0) process.exit(1);
}

if (run("node scripts/build.mjs") !== 0) process.exit(1);

const reporters = "--reporter=default --reporter=./test/support/closing-line.ts";
process.exit(run(`npx --no-install vitest run ${reporters} ${process.argv.slice(2).join(" ")}`));

function run(command) {
  return spawnSync("sh", ["-c", command], { stdio: "inherit" }).status ?? 1;
}
