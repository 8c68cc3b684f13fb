import fc from "fast-check";
import { type DigestFunction, digestFunctions } from "#core/digest.ts";
import { digestOf } from "./digest-of.ts";

export const functions = fc.constantFrom<DigestFunction>(...digestFunctions);

/** Generates digests by any function. */
export const digests = fc
  .tuple(fc.uint8Array({ maxLength: 100 }), functions)
  .map(([bytes, by]) => digestOf(bytes, by));
