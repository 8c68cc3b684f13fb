// `npm test`: installs what is missing, runs the checks of run-checks.mjs and stops at the first that fails, then runs
// each test in a directory that holds only what its job in .grange/farm.yml declares.
// `npm test -- PATH …`: runs the tests of these files only, without the checks before them.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensureInstalled, root } from "./ensure-installed.mjs";
import { runBuild, runChecks, runProgram } from "./run-checks.mjs";

ensureInstalled();

const chosen = process.argv.slice(2);
/** Tests below `test/` run the built program. Those beside the sources do not need it, and should start at once. */
const needsBuild = chosen.some((path) => path.startsWith("test"));
/** `.ci/run` has made the checks at the same time as something else. */
const areChecked = process.env.GRANGE_TEST_CHECKED === "1";

const usesPackages = chosen.length === 0 || needsBuild;
const installing =
  usesPackages && runProgram(process.execPath, ["scripts/install-test-packages.mjs"]);
const checks =
  chosen.length === 0 ? areChecked || (await runChecks()) : !needsBuild || (await runBuild());
if (!checks) process.exit(1);

// Also after a failure: the tests that lack a package are then skipped.
await installing;
const reporters = ["--reporter=default", "--reporter=./test/support/closing-line.ts"];
// Without npx, which needs half a second to find the installed program.
const vitest = join(root, "node_modules/vitest/vitest.mjs");
if (chosen.length > 0) {
  const env = testEnvironment();
  process.exit(
    await runProgram(process.execPath, [vitest, "run", ...reporters, ...chosen], { env }),
  );
}
process.exit(await runInDirectoriesOfJobs());

/**
 * Returns the environment without NODE_EXTRA_CA_CERTS, because of which each start of Node reads all certificates of a file:
 * 60 ms more, and the tests start thousands. The few tests that use a registry get it back
 * (test/support/registry-environment.ts).
 */
function testEnvironment() {
  const { NODE_EXTRA_CA_CERTS: certificates, ...env } = process.env;
  return certificates === undefined ? env : { ...env, GRANGE_TEST_REGISTRY_CA: certificates };
}

/**
 * Runs each test once, in a directory that holds what the job that runs it in the own graph declares.
 *
 * One Vitest runs all of them: with one for each directory, most of the processors were idle at the end of each.
 */
async function runInDirectoriesOfJobs() {
  const groups = testDirectories();
  try {
    // Vitest's configuration reads the file.
    const env = { ...testEnvironment(), GRANGE_TEST_GROUPS: groups };
    return await runProgram(process.execPath, [vitest, "run", ...reporters], { env });
  } finally {
    rmSync(dirname(groups), { recursive: true, force: true });
  }
}

/** Makes the directories, and returns the path of the file that names them. */
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
  return stdout;
}
