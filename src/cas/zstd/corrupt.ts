import { Fault } from "#core/fault.ts";

/** What every part of the decoder throws at bytes that no compressor writes. */
export function corrupt(what: string, cause?: unknown): Fault {
  return new Fault("invalid_argument", `the zstd stream is broken: ${what}`, { cause });
}
