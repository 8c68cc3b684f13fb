import type { Edge, JobSummary } from "#api/graph.ts";
import { groupBy } from "../../parts/group-by.ts";
import { groupName } from "./group-jobs.ts";

/** What is drawn as one: a job, or a block of jobs that differ in nothing but their number. */
export interface Box {
  readonly name: string;
  /** Indices into the graph's list of jobs. */
  readonly jobs: readonly number[];
  readonly width: number;
  readonly height: number;
}

export interface Boxes {
  readonly boxes: readonly Box[];
  /** From box to box, by index: first the one that is waited for. */
  readonly edges: readonly (readonly [from: number, to: number])[];
}

export const boxWidth = 212;
export const boxHeight = 34;
export const cellSize = 10;
export const cellPitch = 13;
export const blockPadding = 9;
export const blockHead = 24;
export const cellsPerRow = Math.floor(
  (boxWidth - 2 * blockPadding + cellPitch - cellSize) / cellPitch,
);

/** Fewer are easier to read one by one. */
const smallestBlock = 6;

/**
 * Puts together jobs that wait for the same, are waited for by the same, and have
 * a group's name in common: the chunks of a test suite. A thousand jobs become
 * the dozen boxes that their author thinks in.
 */
export function boxesOf(jobs: readonly JobSummary[], edges: readonly Edge[]): Boxes {
  const waitsFor = groupBy(edges, (edge) => edge.job);
  const waitedFor = groupBy(edges, (edge) => edge.on);
  const twins = groupBy(jobs.keys(), (index) => {
    const name = jobs[index]?.name ?? "";
    const before = (waitsFor.get(name) ?? []).map((edge) => `${edge.condition} ${edge.on}`).sort();
    const after = (waitedFor.get(name) ?? []).map((edge) => `${edge.condition} ${edge.job}`).sort();
    return JSON.stringify([groupName(name), before, after]);
  });

  const boxes: Box[] = [];
  const boxOf = new Map<string, number>();
  const put = (name: string, members: readonly number[], height: number) => {
    for (const index of members) boxOf.set(jobs[index]?.name ?? "", boxes.length);
    boxes.push({ name, jobs: members, width: boxWidth, height });
  };
  for (const members of twins.values()) {
    const name = groupName(jobs[members[0] ?? 0]?.name ?? "");
    if (members.length >= smallestBlock && name !== "") {
      const rows = Math.ceil(members.length / cellsPerRow);
      put(name, members, blockHead + rows * cellPitch + blockPadding - (cellPitch - cellSize));
    } else {
      for (const index of members) put(jobs[index]?.name ?? "", [index], boxHeight);
    }
  }

  const between = new Map<string, readonly [number, number]>();
  for (const edge of edges) {
    const from = boxOf.get(edge.on);
    const to = boxOf.get(edge.job);
    if (from !== undefined && to !== undefined) between.set(`${from} ${to}`, [from, to]);
  }
  return { boxes, edges: [...between.values()] };
}
