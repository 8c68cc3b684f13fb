import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

const Written = z.looseObject({
  metrics: z.record(z.string(), z.looseObject({ sections: z.array(z.string()).optional() })),
  compile: z.looseObject({
    profiles: z.record(z.string(), z.unknown()),
    scenarios: z.record(z.string(), z.unknown()),
    benchmarks: z.record(z.string(), z.looseObject({})),
  }),
});

/** The selected part of the real suite: all of it would take hours. */
interface Excerpt {
  /** By set. */
  readonly benchmarks: readonly (readonly string[])[];
  readonly profiles: readonly string[];
  readonly scenarios: readonly string[];
  readonly timed: number;
}

/** Returns the suite of TypeScript compilers in this repository, with fewer benchmarks. */
export async function realSuite(excerpt: Excerpt): Promise<Record<string, unknown>> {
  const file = join(import.meta.dirname, "..", "..", "..", ".grange", "bench", "typescript.yml");
  const { compile, metrics, ...whole } = Written.parse(parse(await readFile(file, "utf8")));
  const sets = new Map(excerpt.benchmarks.flatMap((names, set) => names.map((n) => [n, set])));
  return {
    ...whole,
    runtime: undefined,
    toolchain: undefined,
    metrics: Object.fromEntries(
      Object.entries(metrics)
        .filter(([, { sections }]) => sections?.includes("compile") ?? true)
        .map(([name, metric]) => [name, { ...metric, sections: ["compile"] }]),
    ),
    iterations: { counted: 1, timed: excerpt.timed },
    compile: {
      ...compile,
      profiles: only(compile.profiles, excerpt.profiles),
      scenarios: only(compile.scenarios, excerpt.scenarios),
      benchmarks: Object.fromEntries(
        // Patches belong to scenarios that are left out.
        [...sets].map(([name, set]) => [name, { ...compile.benchmarks[name], patches: {}, set }]),
      ),
    },
  };
}

function only<T>(all: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
}
