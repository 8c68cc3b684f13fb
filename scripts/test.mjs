// `npm test`: installs what is missing, then asks question after question and stops at the first no.
import { spawn } from "node:child_process";
import { ensureInstalled } from "./ensure-installed.mjs";

ensureInstalled();

/** One question each, so that the answer names what is wrong. Those of a group use one CPU each, and are asked together. */
const groups = [
  { format: "npx --no-install biome check" },
  { lint: "npx --no-install oxlint src test web bench scripts" },
  {
    types: "npx --no-install tsc",
    "types of the pages": "npx --no-install tsc -p tsconfig.web.json",
    build: "node scripts/build.mjs",
  },
];

for (const group of groups) {
  const answers = await Promise.all(
    Object.entries(group).map(async ([name, command]) => {
      const started = Date.now();
      const answer = await run(command);
      const seconds = ((Date.now() - started) / 1_000).toFixed(1);
      console.log(`${answer === 0 ? "ok" : "FAILED"}  ${name} (${seconds} s)`);
      return answer;
    }),
  );
  if (answers.some((answer) => answer !== 0)) process.exit(1);
}

const reporters = "--reporter=default --reporter=./test/support/closing-line.ts";
process.exit(
  await run(`npx --no-install vitest run ${reporters} ${process.argv.slice(2).join(" ")}`),
);

function run(command) {
  return new Promise((resolve) => {
    const child = spawn("sh", ["-c", command], { stdio: "inherit" });
    child.once("error", () => resolve(1));
    child.once("close", (code) => resolve(code ?? 1));
  });
}
