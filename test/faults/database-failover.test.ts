import { expect, test } from "vitest";
import { failOver } from "./database-failover.ts";

test("a standby that is promoted under load has all that was acknowledged, and the servers return by themselves", async () => {
  const { violations, graphs, readyAgainMs } = await failOver({ graphs: 6 });

  expect(violations).toEqual([]);
  expect(graphs).toBe(6);
  expect(readyAgainMs).toHaveLength(2);
  expect(Math.max(...readyAgainMs)).toBeLessThan(15_000);
});
