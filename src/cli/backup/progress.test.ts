import { expect, test } from "vitest";
import { paintFor } from "../terminal/paint.ts";
import { redrawnBlock } from "../terminal/redrawn-block.ts";
import type { Outlet } from "../terminal/terminal.ts";
import { showSteps } from "./progress.ts";

function outlet(isTerminal: boolean): { lines: string[]; drawn: string[]; notes: Outlet } {
  const lines: string[] = [];
  const drawn: string[] = [];
  const write = (text: string) => void drawn.push(text);
  const notes: Outlet = {
    paint: paintFor(false),
    isTerminal,
    block: isTerminal ? redrawnBlock(write) : undefined,
    columns: () => 80,
    rows: () => 24,
    line: (text) => void lines.push(text),
    write,
  };
  return { lines, drawn, notes };
}

const blobs = (count: number) => ({
  kind: "blobs" as const,
  blobs: count,
  bytes: count,
  copied: count,
  copiedBytes: count,
});

test("elsewhere than on a terminal, there is a line every 10 s and one at the end of each kind of step", () => {
  const { lines, notes } = outlet(false);
  let now = 0;
  const steps = showSteps(notes, () => now);

  for (const tables of [1, 2, 3]) {
    steps.step({ kind: "database", tables, of: 3, bytes: 2048 });
    now += 100;
  }
  for (const count of [1, 2, 3]) {
    steps.step(blobs(count));
    now += 6_000;
  }
  steps.end();

  expect(lines).toEqual([
    "database: 1 of 3 tables, 2 KiB",
    "database: 3 of 3 tables, 2 KiB",
    "blobs: 3 checked, 3 new (3 B)",
  ]);
});

test("on a terminal, steps are drawn in place", () => {
  const { drawn, notes } = outlet(true);
  const steps = showSteps(notes, () => 0);

  steps.step(blobs(7));

  expect(drawn.join("")).toContain("blobs: 7 checked");
});
