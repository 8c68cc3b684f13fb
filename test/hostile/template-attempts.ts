import assert from "node:assert/strict";
import { type SampleRepository } from "../support/sample-repository.ts";
import type { HostileCase } from "./case.ts";
import { type Answer, type HostileFarm } from "./hostile-farm.ts";

export interface Templates extends HostileFarm {
  readonly repository: SampleRepository;
}
export type Case = HostileCase<Templates>;

/** Exponential work exceeds this time on any machine; slow linear work on a busy machine does not. */
const mostMs = 120_000;

export async function submit(farm: Templates, body: object): Promise<Answer> {
  const since = performance.now();
  const answer = await farm.ask("/graphs", { repository: farm.repository.path, ...body });
  assert(performance.now() - since < mostMs, "it held us up");
  return answer;
}

export const job = (rest: string) => `version: 1\njobs:\n  a: { commands: x, ${rest} }\n`;
