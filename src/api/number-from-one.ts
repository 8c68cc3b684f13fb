import { z } from "zod";

/** The shape of a number of a run or a batch, as text: they are numbered from 1. */
export function numberFromOne(what: string) {
  return z
    .string()
    .transform(Number)
    .refine((number) => Number.isInteger(number) && number >= 1 && number <= 2 ** 31 - 1, {
      error: `there is no such ${what}; they are numbered from 1`,
    });
}
