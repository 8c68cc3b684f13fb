// `npm test`: installs what is missing, then runs one check after the other and stops at the first that fails.
// `npm test -- PATH …`: runs the tests of these files only, without the checks before them.
import { spawn } from "node:child_process";
import { ensureInstalled } from "./ensure-installed.mjs";

ensureInstalled();

/** One check each, so that the output names what is wrong. Those of a group use one CPU each, and run together. */
const groups = [
  { format: "npx --no-install biome check" },
  { lint: "npx --no-install oxlint src test web bench scripts" },
  {
    types: "npx --no-install tsc",
    "types of the pages": "npx --no-install tsc -p tsconfig.web.json",
    build: "node scripts/build.mjs",
  },
];

const chosen = process.argv.slice(2);
/** Tests below `test/` run the built program. Those beside the sources do not need it, and should start at once. */
const needsBuild = chosen.some((path) => path.startsWith("test"));
const built = needsBuild ? [{ build: "node scripts/build.mjs" }] : [];

const usesPackages = chosen.length === 0 || needsBuild;
const installing = usesPackages && run(process.execPath, ["scripts/install-test-packages.mjs"]);
for (const group of chosen.length === 0 ? groups : built) {
  const codes = await Promise.all(
    Object.entries(group).map(async ([name, command]) => {
      const started = Date.now();
      const code = await run("sh", ["-c", command]);
      const seconds = ((Date.now() - started) / 1_000).toFixed(1);
      console.log(`${code === 0 ? "ok" : "FAILED"}  ${name} (${seconds} s)`);
      return code;
    }),
  );
  if (codes.some((code) => code !== 0)) process.exit(1);
}

// Also where it failed: the tests that lack a package are then skipped.
await installing;
const reporters = ["--reporter=default", "--reporter=./test/support/closing-line.ts"];
// Without npx, which takes half a second to find what npm installed here.
const vitest = ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...chosen];
process.exit(await run(process.execPath, vitest));

function run(program, args) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "inherit" });
    child.once("error", () => resolve(1));
    child.once("close", (code) => resolve(code ?? 1));
  });
}
