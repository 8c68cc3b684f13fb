import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Fault } from "#core/fault.ts";
import { type Starter, type StarterSource, starterFiles } from "#init/starter-files.ts";
import { readWorkerConfig } from "#worker/config.ts";
import { checkoutRoot } from "../checkout.ts";
import { readNetworkVariables } from "../config.ts";
import type { ExitCode } from "../exit-code.ts";
import { answer, type CommonOptions, type Session } from "../session.ts";
import { installedAt, type MissingTool, missingTools } from "./installed-tools.ts";
import { listRepository } from "./list-repository.ts";

export interface InitOptions extends CommonOptions {
  readonly from: StarterSource;
  /** Overwrites existing definitions. */
  readonly force?: boolean;
  /** Prints the files without writing them. */
  readonly dryRun?: boolean;
}

/** Writes initial definitions for a repository; overwrites existing ones only with `force`. */
export async function initRepository(
  session: Session,
  directory: string,
  options: InitOptions,
): Promise<ExitCode> {
  const root = await checkoutRoot(resolve(directory));
  if (root === undefined) {
    throw new Fault(
      "failed_precondition",
      `${resolve(directory)} is not in a Git repository, and a farm runs commits. Create one: git init`,
    );
  }
  if (options.force !== true && options.dryRun !== true) await refuseExisting(root);
  const { path } = readWorkerConfig();
  const starter = starterFiles(await listRepository(root), {
    source: options.from,
    isInstalled: (program) => installedAt(program, path) !== undefined,
    networkVariables: readNetworkVariables(),
  });
  const missing = await missingTools(starter.tools, path);
  if (options.dryRun !== true) await writeFiles(root, starter);
  const { files, found, notConverted, notes } = starter;
  const value = {
    files: files.map(({ path: file, jobs, text }) => ({
      path: join(root, file),
      jobs,
      ...(options.dryRun === true ? { text } : {}),
    })),
    found,
    notConverted,
    notes,
    missingTools: missing,
  };
  return answer(session, options, value, () => linesFor(root, starter, missing, options));
}

async function refuseExisting(root: string): Promise<void> {
  const names = await readdir(join(root, ".grange")).catch(() => []);
  const existing = names.filter((name) => /\.ya?ml$/.test(name));
  if (existing.length === 0) return;
  throw new Fault(
    "already_exists",
    `${root} already has definitions: ${existing.map((name) => join(".grange", name)).join(", ")}. ` +
      "Change them, overwrite them with --force, or print new ones with --dry-run",
  );
}

async function writeFiles(root: string, starter: Starter): Promise<void> {
  for (const { path, text } of starter.files) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

function linesFor(
  root: string,
  starter: Starter,
  missing: readonly MissingTool[],
  { dryRun }: InitOptions,
): string[] {
  const { files, found, notConverted, notes } = starter;
  return [
    found.length === 0
      ? "Found no build files in this repository. The job is an example: change it."
      : section("Found:", found),
    ...files.map(({ path, jobs, text }) =>
      dryRun === true
        ? `\nWould write ${join(root, path)}:\n\n${text.trimEnd()}`
        : `Wrote ${join(root, path)}: ${jobs.join(", ")}`,
    ),
    ...(starter.workflowsAreOff
      ? [
          "Jobs from the workflows run only with `--param workflows=true`, because the files above already give jobs.",
        ]
      : []),
    section(
      "Not converted:",
      notConverted.map(({ where, reason }) => `${where}: ${reason}`),
    ),
    section("Note:", notes),
    section(
      "Missing on this machine:",
      missing.map(({ advice }) => advice),
    ),
    ...(dryRun === true
      ? []
      : ["Next: git add .grange && git commit -m 'Describe the jobs' && grange up --once"]),
  ].filter((text) => text !== "");
}

function section(title: string, items: readonly string[]): string {
  return items.length === 0 ? "" : [title, ...items.map((item) => `  ${item}`)].join("\n");
}
