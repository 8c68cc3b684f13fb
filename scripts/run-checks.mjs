// The checks that `npm test` makes before the tests: format, lint, types and the build. `.ci/run` starts this program
// while it installs Debian's packages, which no check needs.
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { ensureInstalled } from "./ensure-installed.mjs";

const build = { build: "node scripts/build.mjs" };

/** One check each, so that the output names the failed one. Those of a group use one CPU each, and run concurrently. */
const groups = [
  { format: "npx --no-install biome check" },
  { lint: "npx --no-install oxlint src test web bench scripts" },
  {
    types: "npx --no-install tsc",
    "types of the pages": "npx --no-install tsc -p tsconfig.web.json",
    ...build,
  },
];

/** Runs one check after the other, and stops at the first group with one that fails. Returns whether all passed. */
export async function runChecks() {
  for (const group of groups) if (!(await runGroup(group))) return false;
  return true;
}

/** Builds the program and the pages. Returns whether that succeeded. */
export function runBuild() {
  return runGroup(build);
}

async function runGroup(group) {
  const codes = await Promise.all(
    Object.entries(group).map(async ([name, command]) => {
      const started = Date.now();
      const code = await runProgram("sh", ["-c", command]);
      const seconds = ((Date.now() - started) / 1_000).toFixed(1);
      console.log(`${code === 0 ? "ok" : "FAILED"}  ${name} (${seconds} s)`);
      return code;
    }),
  );
  return codes.every((code) => code === 0);
}

/** Runs a program with the output of this process. Returns its exit code. */
export function runProgram(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "inherit", ...options });
    child.once("error", () => resolve(1));
    child.once("close", (code) => resolve(code ?? 1));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  ensureInstalled();
  process.exit((await runChecks()) ? 0 : 1);
}
