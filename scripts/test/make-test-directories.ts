// Makes the directories in which `npm test` runs the tests, writes what runs in each to a file, and prints its path.
//
// Each test of this project is run by a job of its own graph (.grange/farm.yml). The jobs whose inputs are the same share
// a directory, which holds the files that these inputs name and nothing else of the checkout. So a file that a test reads
// and its job does not declare is missing here, as it is on a farm.
import {
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openGit } from "#git/run-git.ts";
import { selectInputs } from "#graphs/select-inputs.ts";
import {
  contextOfCheckout,
  planWorkingJobs,
  readWorkingDefinitions,
} from "#local-run/working-definitions.ts";
import { readWorkingTree, type WorkingEntry } from "#local-run/working-tree.ts";
import type { DirectoryOfTests } from "./project-of-directory.ts";
import { type TestGroup, testGroups } from "./test-groups.ts";

/** Uncommitted packages that tests use; the tests search for them at these paths. */
const installedForTests = [
  "test/support/browser/node_modules",
  "test/support/from-npm/node_modules",
];

const root = process.cwd();
const top = mkdtempSync(join(tmpdir(), "grange-test-"));
const git = await openGit(join(top, "git"));
try {
  const context = await contextOfCheckout(git, root);
  const given = { parameters: {}, switches: {} };
  const { jobs } = await planWorkingJobs(await readWorkingDefinitions(root), given, context);
  const files = await readWorkingTree(git, root);
  const groups = testGroups([...jobs]).map((group) => ({
    ...group,
    directory: group.inputs === undefined ? root : directoryOf(group, files),
  }));
  const file = join(top, "groups.json");
  writeFileSync(file, JSON.stringify(groups satisfies DirectoryOfTests[]));
  process.stdout.write(file);
} finally {
  await git.stop();
}

function directoryOf({ jobs: names, inputs }: TestGroup, files: readonly WorkingEntry[]): string {
  const directory = join(top, names[0] ?? "tests");
  for (const entry of selectInputs(files, inputs)) {
    const target = join(directory, entry.path);
    mkdirSync(dirname(target), { recursive: true });
    if (entry.kind === "symlink") symlinkSync(entry.target, target);
    else copy(join(root, entry.path), target);
  }
  symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
  cpSync(join(root, "dist"), join(directory, "dist"), {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
  });
  for (const path of installedForTests) {
    if (!existsSync(join(root, path)) || !existsSync(join(directory, dirname(path)))) continue;
    symlinkSync(join(root, path), join(directory, path));
  }
  return directory;
}

/** With its modification time, by which the build in `dist` is recognised as current. */
function copy(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  const { atime, mtime } = statSync(from);
  utimesSync(to, atime, mtime);
}
