import { expect, test } from "vitest";
import { type FoundBackup, whichToRemove } from "./which-to-remove.ts";

const found = (...states: FoundBackup["state"][]): FoundBackup[] =>
  states.map((state, day) => ({ name: `2026-01-0${day + 1}`, state }));
const day = (number: number) => `2026-01-0${number}`;

test.each<{ what: string; backups: FoundBackup[]; keep: number; removed: string[] }>([
  { what: "nothing of fewer", backups: found("complete", "complete"), keep: 3, removed: [] },
  {
    what: "the oldest complete ones beyond the number",
    backups: found("complete", "complete", "complete"),
    keep: 1,
    removed: [day(1), day(2)],
  },
  {
    what: "each interrupted one, which counts for none",
    backups: found("complete", "incomplete", "complete", "incomplete"),
    keep: 2,
    removed: [day(2), day(4)],
  },
  {
    what: "a damaged one once enough newer ones are complete",
    backups: found("damaged", "complete", "complete"),
    keep: 2,
    removed: [day(1)],
  },
  {
    what: "no complete one in favour of damaged ones",
    backups: found("complete", "damaged", "damaged"),
    keep: 1,
    removed: [],
  },
])("removes $what", ({ backups, keep, removed }) => {
  expect(whichToRemove(backups, keep)).toEqual(removed);
});
