import type { Edge, JobSummary } from "#api/graph.ts";
import { groupBy } from "../../parts/group-by.ts";
import type { Measure } from "./fit-text.ts";
import { groupName } from "./group-jobs.ts";
import { roughWidth } from "./text-width.ts";

/** A unit of the drawing: a job, or a block of jobs that differ only in their number. */
export interface Box {
  readonly name: string;
  /** Indices into the graph's list of jobs. */
  readonly jobs: readonly number[];
  readonly width: number;
  readonly height: number;
}

export interface Boxes {
  readonly boxes: readonly Box[];
  /** From box to box, by index: first the one that the other waits for. */
  readonly edges: readonly (readonly [from: number, to: number])[];
}

/** All boxes of a graph have the width of its longest name, within these limits. Longer names lose their middle. */
const leastWidth = 212;
const mostWidth = 380;
/** The start of a name in its box, and the margin at the box's end. */
export const nameLeft = 33;
export const boxPadding = 10;
/** The distance between a name and the text at the box's end: a time, or a word. */
export const asideGap = 8;
export const boxHeight = 34;
export const cellSize = 10;
export const cellPitch = 13;
export const blockPadding = 9;
export const blockHead = 24;

/** Returns how many cells fit side by side into a box of a width. */
export function cellsPerRow(width: number): number {
  return Math.floor((width - 2 * blockPadding + cellPitch - cellSize) / cellPitch);
}

/** The longest names by number of letters are measured; the widest is among them, or only slightly wider. */
const mostMeasured = 50;

/** Fewer jobs are easier to read separately. */
const smallestBlock = 6;

/**
 * Combines jobs that have the same dependencies, the same dependants, and a common prefix: the chunks of a test suite.
 * A thousand jobs become about a dozen boxes.
 */
export function boxesOf(
  jobs: readonly JobSummary[],
  edges: readonly Edge[],
  measure: { readonly name: Measure; readonly aside: Measure } = rough,
): Boxes {
  const waitsFor = groupBy(edges, (edge) => edge.job);
  const waitedFor = groupBy(edges, (edge) => edge.on);
  const twins = groupBy(jobs.keys(), (index) => {
    const name = jobs[index]?.name ?? "";
    const before = (waitsFor.get(name) ?? []).map((edge) => `${edge.condition} ${edge.on}`).sort();
    const after = (waitedFor.get(name) ?? []).map((edge) => `${edge.condition} ${edge.job}`).sort();
    return JSON.stringify([groupName(name), before, after]);
  });

  const isBlock = (members: readonly number[]) =>
    members.length >= smallestBlock && groupName(jobs[members[0] ?? 0]?.name ?? "") !== "";
  const alone = [...twins.values()].filter((members) => !isBlock(members)).flat();
  const width = widthFor(
    alone.map((index) => jobs[index]?.name ?? ""),
    measure,
  );

  const boxes: Box[] = [];
  const boxOf = new Map<string, number>();
  const put = (name: string, members: readonly number[], height: number) => {
    for (const index of members) boxOf.set(jobs[index]?.name ?? "", boxes.length);
    boxes.push({ name, jobs: members, width, height });
  };
  for (const members of twins.values()) {
    const name = groupName(jobs[members[0] ?? 0]?.name ?? "");
    if (isBlock(members)) {
      const rows = Math.ceil(members.length / cellsPerRow(width));
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

/** The longest displayed time. */
const longAside = "59 m 59 s";

/**
 * Returns the space at the end of each box, in px: for a time, even before there is one, so that nothing moves when it
 * appears.
 */
export function asideRoom(aside: Measure): number {
  return aside(longAside) + asideGap + boxPadding;
}

function widthFor(
  names: readonly string[],
  { name: measure, aside }: { readonly name: Measure; readonly aside: Measure },
): number {
  const longest = names.toSorted((a, b) => b.length - a.length).slice(0, mostMeasured);
  const widest = Math.max(0, ...longest.map(measure));
  const wanted = Math.ceil(nameLeft + widest + asideRoom(aside));
  return Math.min(mostWidth, Math.max(leastWidth, wanted));
}

const rough = { name: roughWidth, aside: roughWidth };
