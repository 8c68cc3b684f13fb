import { z } from "zod";

/*
 * Columns of many numbers, as PostgreSQL's JSON has them. Each is checked in one loop: zod's own arrays make an object for each
 * element, and of a hundred thousand of these the collection takes longer than all else of a comparison.
 */

const isNumber = (value: unknown) => typeof value === "number";
const isNumberOrNull = (value: unknown) => value === null || typeof value === "number";
const areNumbersOrNull = (value: unknown) => Array.isArray(value) && value.every(isNumberOrNull);

export const Numbers = z.custom<readonly number[]>(
  (value) => Array.isArray(value) && value.every(isNumber),
);

export const NumbersOrNull = z.custom<readonly (number | null)[]>(areNumbersOrNull);

/** A list of numbers for each row, each list null where the row has none. */
export const NumberLists = z.custom<readonly (readonly (number | null)[] | null)[]>(
  (value) => Array.isArray(value) && value.every((each) => each === null || areNumbersOrNull(each)),
);

export const Texts = z.custom<readonly string[]>(
  (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
);
