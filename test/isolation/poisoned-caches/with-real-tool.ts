import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolDriver } from "../../build-tools/caches/tool-driver.ts";
import type { Attacker, PoisonFarm } from "./poison-farm.ts";

/**
 * Builds the same workspace with the real tool, first as an attacker and then as the CI of the protected branch.
 *
 * Returns what went wrong. The CI must build everything itself, with the right outputs, and be given its own results
 * afterwards. A pull request must be given its own results, which shows that its entries were under the same keys.
 */
export async function poisonWithTool(
  { attackers, ci, entries, clear }: PoisonFarm,
  tool: ToolDriver,
  attacker: Attacker,
): Promise<string[]> {
  const dir = await mkdtemp(join(tool.root ?? tmpdir(), "grange-poison-"));
  try {
    await tool.prepare(dir);
    const by = attackers[attacker];
    const fell: string[] = [];
    await clear();
    const attack = await tool.build(dir, by.cache, by.token);
    if (attacker === "pull request") {
      const again = await tool.build(dir, by.cache, by.token);
      if (again.hits !== attack.misses || again.code !== 0) {
        fell.push(`its own build was given ${again.hits} of ${attack.misses} parts: ${again.said}`);
      }
    } else if ((await entries()) > 0) {
      fell.push("entries were stored");
    }
    const first = await tool.build(dir, ci.cache, ci.token);
    if (first.code !== 0 || first.hits !== 0) {
      fell.push(`the CI was given ${first.hits} parts (code ${first.code}): ${first.said}`);
    }
    const second = await tool.build(dir, ci.cache, ci.token);
    if (second.code !== 0 || second.hits !== first.misses || second.outputs !== first.outputs) {
      fell.push(`the CI was given ${second.hits} of its ${first.misses} parts: ${second.said}`);
    }
    return fell;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
