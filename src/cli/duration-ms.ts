import { InvalidArgumentError } from "commander";
import { parseDuration } from "#definitions/duration.ts";

/** Parses an option's value that is a time, as definitions write it; in ms. */
export function durationMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms <= 0)
    throw new InvalidArgumentError("It must be a time such as 90s, 20m or 1h.");
  return ms;
}
