import { expect, test } from "vitest";
import { recentlyUsed } from "./recently-used.ts";

/** Caches letters; returns those that had to be created again. */
function letters(most: number, weigh?: (letter: string) => number) {
  const kept = recentlyUsed<string>(most, weigh);
  return (keys: string) =>
    keys.split("").filter((key) => {
      let isMade = false;
      kept.get(key, () => {
        isMade = true;
        return key;
      });
      return isMade;
    });
}

test("what was not asked for longest goes first", () => {
  const ask = letters(2);

  expect(ask("aba")).toEqual(["a", "b"]);
  expect(ask("cab")).toEqual(["c", "b"]);
});

test("what is heavy takes the room of many, and what is too heavy is not kept", () => {
  const ask = letters(4, (letter) => ({ h: 3, x: 5 })[letter] ?? 1);

  expect(ask("abchc")).toEqual(["a", "b", "c", "h"]);
  expect(ask("b")).toEqual(["b"]);
  expect(ask("xx")).toEqual(["x", "x"]);
});

test("a promise weighs what it brings, once it is fulfilled", async () => {
  const kept = recentlyUsed<Promise<number>>(4, (weight) => weight);
  kept.set("a", Promise.resolve(2));
  await kept.get("b", async () => 3);

  expect(await kept.get("b", async () => 0)).toBe(3);
  expect(await kept.get("a", async () => 0)).toBe(0);
});

test("a promise that fails is forgotten", async () => {
  const kept = recentlyUsed<Promise<string>>(4);
  await expect(kept.get("a", () => Promise.reject(new Error("away")))).rejects.toThrow("away");

  expect(await kept.get("a", async () => "here")).toBe("here");
});
