import { afterAll, expect, test } from "vitest";
import { type SmallAndLarge, smallAndLarge } from "./ten-rounds.ts";

let set: SmallAndLarge | undefined;
afterAll(() => set?.stop());

test("an action that exhausts the memory of a small class goes to a sufficient one at once, and stays there", async () => {
  set = await smallAndLarge();

  const first = await set.round();
  const second = await set.round();

  expect(first.hungry).toMatchObject({ state: "succeeded" });
  expect(first.hungry.attempts.at(-1)).toEqual({ sizeClass: 2, outcome: "succeeded" });
  for (const earlier of first.hungry.attempts.slice(0, -1))
    expect(earlier).toEqual({ sizeClass: 1, outcome: "out_of_memory" });
  expect(second.hungry).toMatchObject({
    state: "succeeded",
    attempts: [{ sizeClass: 2, outcome: "succeeded" }],
  });
  expect(second.hungry.reason).not.toBe("");
  expect(first.failing.state).toBe("failed");
  expect(first.single.state).toBe("succeeded");
});
