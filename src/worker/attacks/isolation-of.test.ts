import { expect, test } from "vitest";
import { type IsolationOffer, isolationOffers } from "#core/isolation-level.ts";
import type { Defence } from "./attack-list.ts";
import { isolationOf } from "./isolation-of.ts";

const all: readonly Defence[] = [
  "worker",
  "sandbox",
  "own /proc",
  "system-call filter",
  "abstract-socket scope",
  "no user namespaces",
  "process limit",
  "memory limit",
  "disk quota",
  "private network",
];
const levels = Object.keys(isolationOffers) as IsolationOffer[];

test.each<{ without: Defence[]; offers: IsolationOffer[] }>([
  { without: [], offers: levels },
  { without: ["private network"], offers: ["sandbox", "strict"] },
  { without: ["abstract-socket scope"], offers: ["sandbox", "strict"] },
  { without: ["memory limit"], offers: ["sandbox", "sandbox, network"] },
  { without: ["disk quota"], offers: ["sandbox", "sandbox, network"] },
  { without: ["process limit"], offers: ["sandbox", "sandbox, network"] },
  { without: ["no user namespaces"], offers: ["sandbox", "sandbox, network"] },
  { without: ["no user namespaces", "private network"], offers: ["sandbox"] },
  { without: ["system-call filter"], offers: [] },
  { without: ["own /proc"], offers: [] },
  { without: ["sandbox"], offers: [] },
])("a worker without $without offers $offers", ({ without, offers }) => {
  const parts = new Set(all.filter((part) => !without.includes(part)));

  expect(isolationOf({ parts, allowedCalls: [] })).toEqual(
    Object.fromEntries(offers.map((offer) => [isolationOffers[offer], "yes"])),
  );
});

test("a worker that lets a refused system call through offers no level", () => {
  expect(isolationOf({ parts: new Set(all), allowedCalls: ["bpf"] })).toEqual({});
});
