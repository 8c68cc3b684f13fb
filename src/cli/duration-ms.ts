import { InvalidArgumentError } from "commander";
import { parseDuration } from "#definitions/duration.ts";

/** Parses a time option in the notation of definitions; in ms. */
export function durationMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms <= 0)
    throw new InvalidArgumentError("It must be a duration such as 90s, 20m or 1h.");
  return ms;
}
