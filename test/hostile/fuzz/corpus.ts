import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const directory = join(import.meta.dirname, "corpus");

/**
 * Returns the inputs that are kept for a parser: found by earlier runs, each with an outcome that no valid input has.
 * They are sources of further inputs, so that a short run reaches what a long one found.
 */
export function keptInputs(target: string): readonly Uint8Array[] {
  const file = fileOf(target);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => Buffer.from(line, "base64"));
}

/** Replaces the kept inputs of a parser: one line of base64 for each. */
export function keepInputs(target: string, inputs: readonly Uint8Array[]): void {
  rmSync(fileOf(target), { force: true });
  if (inputs.length === 0) return;
  mkdirSync(directory, { recursive: true });
  const lines = inputs.map((input) => `${Buffer.from(input).toString("base64")}\n`);
  writeFileSync(fileOf(target), lines.join(""));
}

function fileOf(target: string): string {
  const name = target.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return join(directory, `${name.replaceAll(/^-|-$/g, "")}.txt`);
}
