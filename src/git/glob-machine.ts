import type { GlobPart } from "./glob-syntax.ts";

/**
 * A state of the automaton: it consumes one character and changes to `next`, or consumes none and is in all of `next`
 * at once. State 0 is the end.
 */
type State =
  | { readonly kind: "take"; readonly takes: (codePoint: number) => boolean; readonly next: number }
  | { readonly kind: "fork"; readonly next: readonly number[] };

const slash = 0x2f;
const isSlash = (codePoint: number): boolean => codePoint === slash;
const isNoSlash = (codePoint: number): boolean => codePoint !== slash;
const isAny = (): boolean => true;

/**
 * Returns a matcher for a glob; `below` says whether it also, or only, matches paths below a directory that it names.
 *
 * It is a nondeterministic automaton (Thompson, 1968) that is in all of its possible states at once, so there is no
 * backtracking. A path costs at most its length times that of the pattern.
 */
export function compileGlob(
  parts: readonly GlobPart[],
  below: "no" | "too" | "only",
): (path: string) => boolean {
  const states: State[] = [{ kind: "fork", next: [] }];
  const add = (state: State): number => states.push(state) - 1;
  const take = (takes: (codePoint: number) => boolean, next: number): number =>
    add({ kind: "take", takes, next });

  /** Consumes any number of such characters, then continues. */
  function repeat(takes: (codePoint: number) => boolean, next: number): number {
    const fork = states.length;
    add({ kind: "fork", next: [fork + 1, next] });
    take(takes, fork);
    return fork;
  }

  function compile(part: GlobPart, next: number): number {
    switch (part.kind) {
      case "literal":
        return take((codePoint) => codePoint === part.codePoint, next);
      case "one":
        return take(isNoSlash, next);
      case "set":
        return take(
          (codePoint) =>
            codePoint !== slash &&
            part.ranges.some(({ from, to }) => from <= codePoint && codePoint <= to) !==
              part.negated,
          next,
        );
      case "many":
        return repeat(isNoSlash, next);
      case "everything":
        return repeat(isAny, next);
      case "directories":
        return add({ kind: "fork", next: [repeat(isAny, take(isSlash, next)), next] });
      case "either":
        return add({
          kind: "fork",
          next: part.alternatives.map((alternative) => compileAll(alternative, next)),
        });
    }
  }

  function compileAll(all: readonly GlobPart[], next: number): number {
    return all.reduceRight((then, part) => compile(part, then), next);
  }

  const inside = below === "no" ? 0 : take(isSlash, repeat(isAny, 0));
  const end = below === "too" ? add({ kind: "fork", next: [0, inside] }) : inside;
  return runner(states, compileAll(parts, end));
}

function runner(states: readonly State[], start: number): (path: string) => boolean {
  // The step in which a state was last entered, so that it is entered only once per step.
  const entered = new Uint32Array(states.length);
  let step = 0;

  function enter(index: number, taking: number[]): void {
    const open = [index];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (entered[at] === step) continue;
      entered[at] = step;
      const state = states[at];
      if (state?.kind === "take") taking.push(at);
      else if (state?.kind === "fork") open.push(...state.next);
    }
  }

  return (path) => {
    if (step > 0xf000_0000) {
      entered.fill(0);
      step = 0;
    }
    step++;
    let taking: number[] = [];
    enter(start, taking);
    for (const character of path) {
      const codePoint = character.codePointAt(0) ?? 0;
      const now = taking;
      taking = [];
      step++;
      for (const at of now) {
        const state = states[at];
        if (state?.kind === "take" && state.takes(codePoint)) enter(state.next, taking);
      }
      if (taking.length === 0 && entered[0] !== step) return false;
    }
    return entered[0] === step;
  };
}
