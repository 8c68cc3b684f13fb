import { expect, test } from "vitest";
import { ExecutionId } from "../execution.ts";
import { workersByImage } from "./prefer-images.ts";

const ids = Array.from({ length: 5 }, (_, n) =>
  ExecutionId.parse(`00000000-0000-4000-8000-00000000000${n}`),
);
/** The images of each execution, as words. */
const images = (...names: (string | undefined)[]) =>
  new Map(
    names.flatMap((name, n) => {
      const id = ids[n];
      return name === undefined || id === undefined ? [] : [[id, name.split(" ")] as const];
    }),
  );
const claim = (instanceId: string, most: number, ...its: string[]) => ({
  instanceId,
  most,
  images: its,
});

test.each([
  {
    what: "an execution goes to the worker that has its image, others to nobody in particular",
    of: images("a", undefined, "b", "c"),
    claims: [claim("one", 4, "b"), claim("two", 4, "a")],
    expected: ["two", undefined, "one", undefined, undefined],
  },
  {
    what: "workers with one image share its executions, and none gets more than it asked for",
    of: images("a", "a", "a", "a", "a"),
    claims: [claim("one", 1, "a"), claim("two", 3, "a")],
    expected: ["two", "two", "one", "two", undefined],
  },
  {
    what: "a worker with the images of the services, too, comes before one with only one of them",
    of: images("a b c", "b"),
    claims: [claim("one", 4, "a"), claim("two", 1, "a", "b", "c"), claim("three", 1, "b")],
    expected: ["two", "three", undefined, undefined, undefined],
  },
])("$what", ({ of, claims, expected }) => {
  const keptFor = workersByImage(ids, of, claims);

  expect(ids.map(keptFor)).toEqual(expected);
});
