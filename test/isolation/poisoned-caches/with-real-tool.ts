import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolDriver } from "../../build-tools/caches/tool-driver.ts";
import type { Access, Attacker, PoisonFarm } from "./poison-farm.ts";

/** What went wrong, for each attacker; empty lists if the cache held. */
type Fallen = Readonly<Record<Attacker, readonly string[]>>;

/**
 * Builds the same workspace with the real tool, first as each attacker and then as the CI of the protected branch.
 *
 * The CI must build everything itself, with the right outputs, and be given its own results afterwards. A pull request
 * must be given its own results, which shows that its entries were under the same keys. The other attackers must store
 * nothing. They build first, so what the CI is given would be the pull request's.
 */
export async function poisonWithTool(
  { attackers, ci, entries, clear }: PoisonFarm,
  tool: ToolDriver,
): Promise<Fallen> {
  const dir = await mkdtemp(join(tmpdir(), "grange-poison-"));
  const build = ({ cache, token }: Access) => tool.build(dir, cache, token);
  const withoutRights = async (attacker: Attacker): Promise<string[]> => {
    await clear();
    await build(attackers[attacker]);
    return (await entries()) > 0 ? ["entries were stored"] : [];
  };
  try {
    await tool.prepare(dir);
    const others = {
      "other project": await withoutRights("other project"),
      "expired job token": await withoutRights("expired job token"),
    };
    const fell: string[] = [];
    await clear();
    const attack = await build(attackers["pull request"]);
    const again = await build(attackers["pull request"]);
    if (again.hits !== attack.misses || again.code !== 0) {
      fell.push(`its own build was given ${again.hits} of ${attack.misses} parts: ${again.said}`);
    }
    const first = await build(ci);
    if (first.code !== 0 || first.hits !== 0) {
      fell.push(`the CI was given ${first.hits} parts (code ${first.code}): ${first.said}`);
    }
    const second = await build(ci);
    if (second.code !== 0 || second.hits !== first.misses || second.outputs !== first.outputs) {
      fell.push(`the CI was given ${second.hits} of its ${first.misses} parts: ${second.said}`);
    }
    return { ...others, "pull request": fell };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
