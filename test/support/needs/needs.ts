import type { TestContext } from "vitest";

/** What some tests need of the machine beyond Node, npm and Git. */
export interface Need {
  /** A noun phrase for the summary: "Bazel". */
  readonly name: string;
  /** Why it cannot be had here; undefined where it is there. */
  readonly missing: string | undefined;
  readonly remedy: Remedy;
}

/** What adds a need to a machine that lacks it. */
type Remedy =
  | { readonly kind: "debian"; readonly packages: readonly string[] }
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "root" }
  /** A property of the kernel or of the hardware, such as a second CPU: nothing to install. */
  | { readonly kind: "machine" };

/** A need that is not met, as the reporter reads it from a skipped test. */
export type Lack = Need & { readonly missing: string };

declare module "vitest" {
  interface TaskMeta {
    lacks?: readonly Lack[];
  }
}

/**
 * Returns options for `test` or `describe`: they skip it where one of its needs is missing.
 *
 * This and `skipWithout` are the only ways in which tests are skipped: the run then ends with a summary
 * of what was not tested, and `.ci/run` fails.
 */
export function needs(...all: readonly Need[]): {
  skip: boolean;
  meta: { lacks: readonly Lack[] };
} {
  const lacks = all.flatMap(lackOf);
  return { skip: lacks.length > 0, meta: { lacks } };
}

/** Skips the running test where a need is missing that only a running test can look for. */
export function skipWithout({ skip, task }: Pick<TestContext, "skip" | "task">, need: Need): void {
  const [lack] = lackOf(need);
  if (lack === undefined) return;
  task.meta.lacks = [...(task.meta.lacks ?? []), lack];
  skip(lack.missing);
}

/** Copies the fields, as the need may compute them, and they go to the reporter's process. */
function lackOf(need: Need): Lack[] {
  const { name, missing, remedy } = need;
  return missing === undefined ? [] : [{ name, missing, remedy }];
}
