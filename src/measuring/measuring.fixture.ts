import { chmod, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { z } from "zod";
import type { PlacedArtifact } from "#artifacts/artifact-cache.ts";
import type { TestCase } from "#core/test-case.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { Suite } from "#suites/suite.ts";
import type { SandboxRequest } from "./processes/tools.ts";
import { openWorkPlace, type WorkPlace } from "./work-place.ts";

/** A folder for one test, with a place to measure and an artifact cache that contains only the given artifacts. */
export interface Workshop {
  readonly directory: string;
  readonly place: WorkPlace;
  readonly notes: string[];
  /** An artifact with these programs, as `{artifact}/NAME`. */
  artifact(name: string, programs: Record<string, string>, tool: string): Promise<PlacedArtifact>;
  close(): Promise<void>;
}

export async function openWorkshop(sandbox: SandboxRequest = "auto"): Promise<Workshop> {
  const directory = await mkdtemp(join(tmpdir(), "grange-measuring-"));
  const notes: string[] = [];
  const place = await openWorkPlace({
    directory: join(directory, "work"),
    sandbox,
    tell: (sentence) => notes.push(sentence),
    cache: {
      placeSource: () => Promise.reject(new Error("no source was asked for")),
      release: () => Promise.resolve(),
    },
  });
  return {
    directory,
    place,
    notes,
    async artifact(name, programs, tool) {
      const at = join(directory, name);
      await mkdir(at, { recursive: true });
      for (const [file, text] of Object.entries(programs)) {
        await writeFile(join(at, file), text);
        await chmod(join(at, file), 0o755);
      }
      return { directory: at, tool: [join(at, tool)], env: {} };
    },
    async close() {
      await place.close();
      await removeTree(directory);
    },
  };
}

/** A suite of one benchmark, `it`, whose command is the tool. */
export function suiteOf(
  change: {
    compile?: Partial<z.input<typeof Suite>["compile"] & object>;
    benchmark?: object;
    metrics?: z.input<typeof Suite>["metrics"];
    backend?: object;
    pairs?: object;
    iterations?: object;
  } = {},
): Suite {
  return Suite.parse({
    suite: "small",
    artifacts: { from: "nowhere" },
    backends: { sh: { ...change.backend } },
    targets: { here: {} },
    headline: "user-time",
    metrics: change.metrics ?? {
      "user-time": { take: { from: "user-time" }, nature: "noisy", unit: "seconds" },
    },
    compile: {
      command: ["{tool}"],
      benchmarks: { it: { ...change.benchmark } },
      ...change.compile,
    },
    iterations: { counted: 1, timed: 1, ...change.iterations },
    ...(change.pairs && { pairs: change.pairs }),
  });
}

export const theCase: TestCase = {
  section: "compile",
  benchmark: "it",
  profile: "",
  scenario: "",
  backend: "sh",
  target: "here",
};
