import { mkdir, readdir } from "node:fs/promises";
import { readTarball } from "#artifacts/read-tarball.ts";
import { Fault } from "#core/fault.ts";
import { exampleDefinitions, sourceRoots } from "./example-definitions.ts";
import type { NewCommit } from "./fast-import.ts";
import { importCommits } from "./import-commits.ts";
import { undated, versionDate } from "./version-date.ts";

interface ExampleSource {
  readonly name: string;
  /** Oldest first. */
  readonly versions: readonly string[];
  /** The gzipped tar of a version. */
  download(version: string): Promise<Uint8Array>;
  /** Called before each download. */
  onVersion?(version: string): void;
}

/** Creates a Git repository with one commit per version, and checks out its newest. */
export async function makeExample(source: ExampleSource, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0) {
    throw new Fault(
      "already_exists",
      `${folder} is not empty; name another directory with --out DIR`,
    );
  }
  await importCommits(folder, commitsOf(source));
}

async function* commitsOf(source: ExampleSource): AsyncGenerator<NewCommit> {
  for (const version of source.versions) {
    source.onVersion?.(version);
    const files = await readTarball(await source.download(version));
    if (sourceRoots(files).length === 0) {
      throw new Fault(
        "failed_precondition",
        `${source.name} ${version} contains no TypeScript sources. Packages that do: rxjs, @noble/curves, zod, ajv`,
      );
    }
    const own = exampleDefinitions(source.name, files);
    const replaced = new Set(own.map((file) => file.path));
    yield {
      message: `${source.name} ${version}`,
      tag: `v${version}`,
      date: versionDate(version) ?? undated,
      files: [...files.filter((file) => !replaced.has(file.path)), ...own],
    };
  }
}
