import { z } from "zod";
import { Fault, messageOf } from "#core/fault.ts";
import { seededDraws } from "../../support/seeded-draws.ts";
import { mutate } from "./mutate.ts";

/** A parser that reads bytes of people who may be hostile. */
export interface FuzzTarget {
  readonly name: string;
  /** Valid and nearly valid inputs, from which others are made. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** Pieces with a meaning in the format. */
  readonly words?: readonly (string | Uint8Array)[];
  /** Errors, besides `Fault` and zod's, by which the parser refuses an input. */
  readonly refusals?: readonly (abstract new (
    ...args: never[]
  ) => Error)[];
  /**
   * Reads an input. Throws a refusal for bad input; any other error is a crash. Laws of the parser are asserted here by
   * `BrokenLaw`.
   */
  readonly read: (bytes: Uint8Array) => unknown;
  /** Whether an input takes about a millisecond: it then gets a tenth of the inputs. */
  readonly isSlow?: boolean;
  /** Releases what the target holds; called after its last input. */
  readonly end?: () => unknown;
}

/** The parser returned something that it must never return. */
export class BrokenLaw extends Error {
  override readonly name = "BrokenLaw";
}

interface Crash {
  readonly target: string;
  /** As base64, to be repeated. */
  readonly input: string;
  readonly reason: string;
}

interface Fuzzed {
  readonly inputs: number;
  readonly accepted: number;
  /** The number of different outcomes: results by shape, refusals by text. */
  readonly outcomes: number;
  /** The inputs whose outcome no seed and no earlier input had. */
  readonly found: readonly { readonly input: Uint8Array; readonly isAccepted: boolean }[];
  readonly crashes: readonly Crash[];
  readonly slowest: { readonly ms: number; readonly input: string };
}

/** Inputs with a new outcome are kept, up to this number: changes of them reach further. */
const mostKept = 400;
const mostCrashes = 5;

/**
 * Gives a parser many inputs made from its seeds. The same seed gives the same inputs.
 *
 * An input whose outcome was not seen before becomes a source of further inputs, so that the search gets past the first
 * checks of a format.
 */
export async function fuzz(target: FuzzTarget, seed: number, most: number): Promise<Fuzzed> {
  const inputs = inputsOf(target, most);
  const draws = seededDraws(seed);
  const words = (target.words ?? []).map(bytesOf);
  const kept = target.seeds.map(bytesOf);
  const outcomes = new Set<string>();
  const found: { input: Uint8Array; isAccepted: boolean }[] = [];
  const crashes: Crash[] = [];
  let accepted = 0;
  let slowest: Fuzzed["slowest"] = { ms: 0, input: "" };
  for (let n = 0; n < inputs && crashes.length < mostCrashes; n++) {
    const source = kept[Math.floor(draws() * kept.length)] ?? new Uint8Array();
    // The seeds themselves come first.
    const input =
      n < target.seeds.length ? (kept[n] ?? source) : mutate(source, kept, words, draws);
    const before = performance.now();
    const { outcome, crash, isAccepted } = await outcomeOf(target, input);
    const ms = performance.now() - before;
    if (ms > slowest.ms) slowest = { ms, input: Buffer.from(input).toString("base64") };
    if (isAccepted) accepted++;
    if (crash !== undefined) {
      const { name } = target;
      crashes.push({ target: name, input: Buffer.from(input).toString("base64"), reason: crash });
    } else if (!outcomes.has(outcome)) {
      outcomes.add(outcome);
      if (n < target.seeds.length) continue;
      const copy = Uint8Array.from(input);
      found.push({ input: copy, isAccepted });
      if (kept.length < mostKept) kept.push(copy);
    }
  }
  return { inputs, accepted, outcomes: outcomes.size, found, crashes, slowest };
}

/** Returns the number of inputs that a target gets of `most`. */
export function inputsOf({ isSlow = false }: FuzzTarget, most: number): number {
  return isSlow ? Math.ceil(most / 10) : most;
}

async function outcomeOf(target: FuzzTarget, input: Uint8Array) {
  try {
    // A copy: a parser that changes its input would change the inputs that follow.
    const result = await target.read(Uint8Array.from(input));
    return { outcome: `ok ${shapeOf(result, 3)}`, crash: undefined, isAccepted: true };
  } catch (reason) {
    const crash = isRefusal(target, reason) ? undefined : describe(reason);
    return { outcome: withoutDetails(messageOf(reason)), crash, isAccepted: false };
  }
}

function isRefusal({ refusals = [] }: FuzzTarget, reason: unknown): boolean {
  if (reason instanceof Fault) return reason.code !== "internal";
  return reason instanceof z.ZodError || refusals.some((kind) => reason instanceof kind);
}

function describe(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason);
  const [, place = ""] = reason.stack?.split("\n    at ") ?? [];
  return `${reason.name}: ${reason.message.slice(0, 300)} (${place})`;
}

/** Messages that differ only in what they quote count as one outcome. */
function withoutDetails(message: string): string {
  return message
    .slice(0, 120)
    .replaceAll(/["'`].*["'`]/gs, "…")
    .replaceAll(/\d+/g, "0");
}

function shapeOf(value: unknown, depth: number): string {
  if (typeof value !== "object" || value === null) return typeof value;
  if (depth === 0) return "…";
  if (value instanceof Map || value instanceof Set) return `${value.size > 0}`;
  const size = (length: number) => Math.ceil(Math.log2(length + 1));
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const list = Array.isArray(value) ? value : [];
    const length = Array.isArray(value) ? value.length : value.byteLength;
    return `[${size(length)} ${list.length > 0 ? shapeOf(list.at(-1), depth - 1) : ""}]`;
  }
  const entries = Object.entries(value).slice(0, 8);
  return `{${entries.map(([key, each]) => `${key}:${shapeOf(each, depth - 1)}`).join()}}`;
}

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? Buffer.from(text) : text;
}
