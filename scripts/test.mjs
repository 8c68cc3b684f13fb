// `npm test`: installs what is missing, runs one check after the other and stops at the first that fails, then runs
// each test in a directory that holds only what its job in .grange/farm.yml declares.
// `npm test -- PATH …`: runs the tests of these files only, without the checks before them.
import { spawn, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ensureInstalled, root } from "./ensure-installed.mjs";

ensureInstalled();

/** One check each, so that the output names the failed one. Those of a group use one CPU each, and run concurrently. */
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

// Also after a failure: the tests that lack a package are then skipped.
await installing;
const reporters = ["--reporter=default", "--reporter=./test/support/closing-line.ts"];
// Without npx, which needs half a second to find the installed program.
const vitest = join(root, "node_modules/vitest/vitest.mjs");
if (chosen.length > 0)
  process.exit(await run(process.execPath, [vitest, "run", ...reporters, ...chosen]));
process.exit(await runInDirectoriesOfJobs());

/** Runs each test once, in a directory that holds what the job that runs it in the own graph declares. */
async function runInDirectoriesOfJobs() {
  const { top, groups } = testDirectories();
  let worst = 0;
  try {
    for (const { jobs, directory, vitestArguments } of groups) {
      console.log(
        `\nTests of ${jobs.length === 1 ? "job" : "jobs"} ${jobs.join(", ")}, in ${directory}`,
      );
      const args = [vitest, "run", ...reporters, ...vitestArguments];
      // Each run adds its results, so that the last prints those of all.
      const env = { ...process.env, GRANGE_TEST_RESULTS: join(top, "results.json") };
      worst = Math.max(worst, await run(process.execPath, args, { cwd: directory, env }));
    }
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
  return worst;
}

function testDirectories() {
  const script = ["--import", "tsx", "scripts/test/make-test-directories.ts"];
  const { status, stdout } = spawnSync(process.execPath, script, {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (status !== 0) {
    console.log("FAILED  making the directories in which the tests run");
    process.exit(1);
  }
  return JSON.parse(stdout);
}

function run(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "inherit", ...options });
    child.once("error", () => resolve(1));
    child.once("close", (code) => resolve(code ?? 1));
  });
}
