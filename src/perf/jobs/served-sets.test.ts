import { expect, test } from "vitest";
import { type SetServer, servedSets } from "./served-sets.ts";

const longAgo = new Date("2026-06-01T00:00:00Z");
const silent = { toldSilentAt: new Date("2026-06-01T00:01:00Z") };

function one(name: string, set: number | null, changes: Partial<SetServer> = {}): SetServer {
  return {
    name,
    set,
    mayTakeOver: [],
    active: true,
    outOfDuty: null,
    // However long ago: only the silence watch decides whether it is silent.
    lastHeartbeatAt: longAgo,
    toldSilentAt: null,
    ...changes,
  };
}

const helper = one("me", 0, { mayTakeOver: [1, 2] });
const spare = one("me", null);

test.each<[string, SetServer, SetServer[], { allBut: boolean; sets: number[] }]>([
  ["its own set", one("me", 3), [], { allBut: false, sets: [3] }],
  ["its own and what nobody serves", helper, [], { allBut: false, sets: [0, 1, 2] }],
  ["not what another one serves", helper, [one("b", 1)], { allBut: false, sets: [0, 2] }],
  [
    "what a silent one served",
    helper,
    [one("b", 1, silent), one("c", 2)],
    { allBut: false, sets: [0, 1] },
  ],
  [
    "what one served that was never heard of",
    helper,
    [one("b", 1, { lastHeartbeatAt: null }), one("c", 2)],
    { allBut: false, sets: [0, 1] },
  ],
  [
    "what one serves that is out of duty or inactive",
    helper,
    [one("b", 1, { outOfDuty: "noisy" }), one("c", 2, { active: false })],
    { allBut: false, sets: [0, 1, 2] },
  ],
  ["nothing more when one serves all", helper, [one("b", null)], { allBut: false, sets: [0] }],
  ["everything", spare, [], { allBut: true, sets: [] }],
  ["all but what has a collector of its own", spare, [one("b", 1)], { allBut: true, sets: [1] }],
  [
    "the sets of silent ones, too",
    spare,
    [one("b", 1, silent), one("c", 2)],
    { allBut: true, sets: [2] },
  ],
])("a collector serves %s", (_, me, peers, expected) => {
  expect(servedSets(me, [me, ...peers])).toEqual(expected);
});
