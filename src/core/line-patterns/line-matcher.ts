import type { Program, Step } from "./pattern-program.ts";
import { holds, type Neighbour, neighbourOf } from "./surroundings.ts";
import { isAmong, lastUnit, wordUnits } from "./units.ts";

interface State {
  /** Steps that the machine may be at, before those that take nothing were followed; sorted. */
  readonly places: readonly number[];
  readonly before: Neighbour;
  /** By class of units. */
  readonly edges: (Edge | undefined)[];
}

interface Edge {
  readonly to: State;
  /** Which patterns match here. */
  readonly found: readonly number[];
}

/** States kept at hand. With more, all are forgotten and found anew: memory stays bounded. */
const mostStates = 400;

/**
 * Finds which of many patterns occur in a line, all of them in one walk along it.
 *
 * The patterns become one deterministic machine, whose states are made when they are first met. A
 * line that meets only known ones costs a look-up a character, however many patterns there are; one
 * that is made to meet new ones costs at most the size of the patterns a character, and `effort` says so.
 */
export class LineMatcher {
  readonly #steps: Step[] = [];
  readonly #starts: number[] = [];
  /** Of each step that is an end: whose. */
  readonly #patternAt = new Map<number, number>();
  readonly #classOf = new Uint16Array(lastUnit + 1);
  /** One unit of each class: what holds for it holds for all. */
  readonly #sampleOf: number[] = [];
  readonly #states = new Map<string, State>();
  readonly #entered: Uint32Array;
  #walk = 0;
  #effort = 0;

  constructor(programs: readonly Program[]) {
    for (const [pattern, { steps, start }] of programs.entries()) {
      const offset = this.#steps.length;
      this.#starts.push(start + offset);
      for (const [at, step] of steps.entries()) {
        if (step.op === "match") this.#patternAt.set(at + offset, pattern);
        this.#steps.push(moved(step, offset));
      }
    }
    this.#entered = new Uint32Array(this.#steps.length);
    this.#divideUnits();
  }

  /** How many steps were taken to make states: what costs time beside the length of the lines. */
  get effort(): number {
    return this.#effort;
  }

  /** The patterns that occur in a line, by their places in the list. */
  in(line: string): ReadonlySet<number> {
    let found: Set<number> | undefined;
    let state = this.#stateOf([], "edge");
    for (let place = 0; place < line.length; place++) {
      const units = this.#classOf[line.charCodeAt(place)] ?? 0;
      const edge = state.edges[units] ?? this.#edgeFrom(state, units);
      if (edge.found.length > 0) found = withAll(found, edge.found);
      state = edge.to;
    }
    // The end of the line is a class of its own, after all others.
    const end = this.#sampleOf.length;
    const edge = state.edges[end] ?? this.#edgeFrom(state, end);
    return edge.found.length > 0 ? withAll(found, edge.found) : (found ?? none);
  }

  #edgeFrom(state: State, units: number): Edge {
    const unit = this.#sampleOf[units];
    const after = unit === undefined ? "edge" : neighbourOf(unit);
    const walk = ++this.#walk;
    const found: number[] = [];
    const next = new Set<number>();
    // A match may begin anywhere: every place is a start, too.
    const stack = [...state.places, ...this.#starts];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (this.#entered[at] === walk) continue;
      this.#entered[at] = walk;
      this.#effort++;
      const step = this.#steps[at];
      if (step === undefined) continue;
      switch (step.op) {
        case "take":
          if (unit !== undefined && isAmong(step.units, unit)) next.add(step.next);
          break;
        case "fork":
          stack.push(step.first, step.second);
          break;
        case "assert":
          if (holds(step.what, state.before, after)) stack.push(step.next);
          break;
        case "mark":
          stack.push(step.next);
          break;
        case "match":
          found.push(this.#patternAt.get(at) ?? 0);
          break;
      }
    }
    const edge = {
      to: this.#stateOf(
        [...next].toSorted((a, b) => a - b),
        after,
      ),
      found,
    };
    state.edges[units] = edge;
    return edge;
  }

  #stateOf(places: readonly number[], before: Neighbour): State {
    const key = `${before} ${places.join(" ")}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    if (this.#states.size >= mostStates) this.#states.clear();
    const state: State = { places, before, edges: [] };
    this.#states.set(key, state);
    return state;
  }

  /** Units that no step tells apart are one class. */
  #divideUnits(): void {
    const borders = new Set([0]);
    const sets = this.#steps.flatMap((step) => (step.op === "take" ? [step.units] : []));
    for (const units of [wordUnits, ...sets])
      for (const [first, last] of units) borders.add(first).add(last + 1);
    const sorted = [...borders].filter((unit) => unit <= lastUnit).toSorted((a, b) => a - b);
    for (const [at, from] of sorted.entries()) {
      this.#classOf.fill(at, from, sorted[at + 1] ?? lastUnit + 1);
      this.#sampleOf.push(from);
    }
  }
}

const none: ReadonlySet<number> = new Set();

function withAll(found: Set<number> | undefined, more: readonly number[]): Set<number> {
  const all = found ?? new Set<number>();
  for (const one of more) all.add(one);
  return all;
}

function moved(step: Step, by: number): Step {
  switch (step.op) {
    case "fork":
      return { op: "fork", first: step.first + by, second: step.second + by };
    case "take":
    case "assert":
    case "mark":
      return { ...step, next: step.next + by };
    case "match":
      return step;
  }
}
