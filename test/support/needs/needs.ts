import type { TestContext } from "vitest";

/** A requirement of some tests on the machine, beyond Node, npm and Git. */
export interface Need {
  /** A noun phrase for the summary: "Bazel". */
  readonly name: string;
  /** Why it is not available; undefined if it is available. */
  readonly missing: string | undefined;
  readonly remedy: Remedy;
}

/** How to provide a need on a machine that lacks it. */
type Remedy =
  | { readonly kind: "debian"; readonly packages: readonly string[] }
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "root" }
  /** A property of the kernel or of the hardware, such as a second CPU: it cannot be installed. */
  | { readonly kind: "machine" };

/** An unmet need, as the reporter reads it from a skipped test. */
export type Lack = Need & { readonly missing: string };

declare module "vitest" {
  interface TaskMeta {
    lacks?: readonly Lack[];
  }
}

/**
 * Returns options for `test` or `describe`: they skip it if one of its needs is missing.
 *
 * Only this function and `skipWithout` skip tests: the run then ends with a summary of skipped tests, and `.ci/run`
 * fails.
 */
export function needs(...all: readonly Need[]): {
  skip: boolean;
  meta: { lacks: readonly Lack[] };
} {
  const lacks = all.flatMap(lackOf);
  return { skip: lacks.length > 0, meta: { lacks } };
}

/** Skips the running test if a need is missing that only a running test can check. */
export function skipWithout({ skip, task }: Pick<TestContext, "skip" | "task">, need: Need): void {
  const [lack] = lackOf(need);
  if (lack === undefined) return;
  task.meta.lacks = [...(task.meta.lacks ?? []), lack];
  skip(lack.missing);
}

/** Copies the fields, because the need may compute them, and the reporter is another process. */
function lackOf(need: Need): Lack[] {
  const { name, missing, remedy } = need;
  return missing === undefined ? [] : [{ name, missing, remedy }];
}
