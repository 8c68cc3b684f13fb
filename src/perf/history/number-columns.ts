import { z } from "zod";

/*
 * Columns of many numbers, from PostgreSQL's JSON. Each is checked in one loop: zod's own arrays create an object for
 * each element, and collecting a hundred thousand of these takes longer than the rest of a comparison.
 */

const isNumber = (value: unknown) => typeof value === "number";
const isNumberOrNull = (value: unknown) => value === null || typeof value === "number";
const areNumbersOrNull = (value: unknown) => Array.isArray(value) && value.every(isNumberOrNull);

export const Numbers = z.custom<readonly number[]>(
  (value) => Array.isArray(value) && value.every(isNumber),
);

const NumbersOrNull = z.custom<readonly (number | null)[]>(areNumbersOrNull);

/** A list of numbers for each row; null for a row without a list. */
const NumberLists = z.custom<readonly (readonly (number | null)[] | null)[]>(
  (value) => Array.isArray(value) && value.every((each) => each === null || areNumbersOrNull(each)),
);

/**
 * The same from texts with commas between the numbers, as `string_agg` creates them: they take PostgreSQL half the time
 * of JSON arrays.
 */
export const NumbersInText = z
  .string()
  .transform((text) => JSON.parse(`[${text}]`) as unknown)
  .pipe(Numbers);
export const NumbersOrNullInText = z
  .string()
  .transform((text) => JSON.parse(`[${text}]`) as unknown)
  .pipe(NumbersOrNull);
export const NumberListsInText = z
  .string()
  .transform((text) => JSON.parse(`[${text}]`) as unknown)
  .pipe(NumberLists);

export const Texts = z.custom<readonly string[]>(
  (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
);
