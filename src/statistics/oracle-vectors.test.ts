import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { answerOf, differenceOf, type OracleCase } from "./oracle-cases.fixture.ts";

/** The cases come from `bench/show/benchmark-lab/numerics`, the answers from SciPy. */
const vectors = readFileSync(new URL("oracle-vectors.fixture", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as { question: OracleCase; answer: number[] });

const kinds = [...new Set(vectors.map(({ question }) => question.f))];

test("every function has vectors", () => {
  expect(kinds).toHaveLength(11);
});

test.each(kinds)("%s returns the same as SciPy", (kind) => {
  const differences = vectors
    .filter(({ question }) => question.f === kind)
    .map(({ question, answer }) => differenceOf(answerOf(question), answer));

  expect(Math.max(...differences)).toBeLessThan(1e-9);
});
