import { randomFrom } from "../random.ts";
import type { Trace } from "../trace.ts";
import { builds } from "./builds.ts";
import { codeBase } from "./code-base.ts";
import { standardHeader } from "./standard-header.ts";

/** A code base without earlier builds: first all of it, then parts, and no action runs often. */
export function newCodeBase(seed: number): Trace {
  const random = randomFrom(seed);
  const actions = codeBase(random, 220);
  return {
    header: standardHeader("new-code-base"),
    executions: builds(
      random,
      () => actions,
      { executions: 6_000, meanGapMs: 8_000, meanSize: 40, spreadMs: 120_000 },
      actions,
    ),
  };
}
