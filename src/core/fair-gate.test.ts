import { expect, test } from "vitest";
import { FairGate } from "./fair-gate.ts";

function gated(most: number) {
  const gate = new FairGate(most);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (who: string, signal?: AbortSignal) =>
    gate.through(
      who,
      () => {
        begun.push(who);
        return new Promise<void>((resolve) => {
          ends.push(resolve);
        });
      },
      signal,
    );
  const endNext = async () => {
    ends.shift()?.();
    for (let n = 0; n < 10; n++) await Promise.resolve();
  };
  return { ask, begun, endNext };
}

test("lets in by turns of those who ask, however much each asks", async () => {
  const { ask, begun, endNext } = gated(2);
  for (let n = 0; n < 5; n++) void ask("much");
  void ask("little");
  void ask("other");

  for (let n = 0; n < 4; n++) await endNext();

  expect(begun).toEqual(["much", "much", "much", "little", "other", "much"]);
});

test("who gives up waiting is not let in, and takes nobody's turn", async () => {
  const { ask, begun, endNext } = gated(1);
  const leaving = new AbortController();
  void ask("first");
  const left = ask("gone", leaving.signal);
  void ask("last");

  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  await endNext();

  expect(begun).toEqual(["first", "last"]);
  await endNext();
  void ask("again");
  expect(begun).toEqual(["first", "last", "again"]);
});

test("work that fails gives its place back", async () => {
  const gate = new FairGate(1);
  const failing = gate.through("one", () => Promise.reject(new Error("no")));

  await expect(failing).rejects.toThrow("no");
  expect(await gate.through("two", () => 2)).toBe(2);
});
