import { expect, test } from "vitest";
import { chooseProcess } from "./choose-process.ts";

const process = (key: string, lastUsedMs: number, isBusy = false) => ({ key, lastUsedMs, isBusy });

test("an idle process with the same key is used, the one used last", () => {
  const kept = [process("a", 2), process("a", 3), process("a", 4, true), process("b", 9)];

  expect(chooseProcess(kept, "a", 4)).toEqual({ kind: "use", process: kept[1] });
});

test("a process is started while there are fewer than allowed", () => {
  expect(chooseProcess([process("a", 1, true)], "a", 2)).toEqual({ kind: "start" });
});

test("a process is started in place of the one that is used least", () => {
  const kept = [process("a", 2), process("b", 1), process("c", 0, true)];

  expect(chooseProcess(kept, "d", 3)).toEqual({ kind: "start", after: kept[1] });
});

test.each([
  ["all are busy", [process("a", 1, true)], 1],
  ["none is allowed", [], 0],
])("there is no process when %s", (_, kept, most) => {
  expect(chooseProcess(kept, "a", most)).toEqual({ kind: "none" });
});
