import { Fault } from "#core/fault.ts";

/** The fault for bytes that no compressor writes. */
export function corrupt(what: string, cause?: unknown): Fault {
  return new Fault("invalid_argument", `the zstd stream is invalid: ${what}`, { cause });
}
