import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { HostileCase } from "./case.ts";
import { type HostileFarm } from "./hostile-farm.ts";

export type Case = HostileCase<HostileFarm>;

export const importing = (suite: string, tool: string, output: string, more: object = {}) => ({
  suite,
  artifact: "a".repeat(40),
  tool,
  target: "linux",
  output,
  ...more,
});

export const newSuite = () => `hostile-${randomUUID().slice(0, 8)}`;

/**
 * A case whose import is refused with these words and with the place; the series then have no part
 * of it.
 */
export function refused(name: string, tool: string, output: string, says: RegExp): Case {
  return {
    name,
    async run(farm) {
      const suite = newSuite();
      const { status, said } = await farm.ask("/benchmarks/import", importing(suite, tool, output));
      assert.equal(status, 400, said);
      assert.match(said, says);
      assert(said.length < 2_000, `${said.length} characters`);
      assert.equal((await farm.ask(`/benchmarks/suites/${suite}`)).status, 404);
    },
  };
}

/** A case whose import is accepted; the farm's response is checked afterwards. */
export function taken(
  name: string,
  tool: string,
  output: string,
  look: (farm: HostileFarm, suite: string) => Promise<void>,
): Case {
  return {
    name,
    async run(farm) {
      const suite = newSuite();
      const answer = await farm.ask("/benchmarks/import", importing(suite, tool, output));
      assert.equal(answer.status, 200, answer.text);
      await look(farm, suite);
    },
  };
}

export const hyperfine = (
  ...results: readonly { readonly command: string; readonly times: unknown[] }[]
) => JSON.stringify({ results });
export const go = (line: string) => `pkg: p\n${line}\n`;

export async function words(farm: HostileFarm, suite: string): Promise<string> {
  return (await farm.ask(`/benchmarks/graphs?suite=${suite}&limit=500`)).text;
}
