import { expect, test } from "vitest";
import { madeUpGraph } from "../../dev/made-up-graph.ts";
import { asideRoom, boxesOf, nameLeft } from "./boxes.ts";
import { fitText } from "./fit-text.ts";

/** 10 px for each wide letter, 4 px for any other. */
const measure = (text: string) =>
  Array.from(text).reduce((sum, letter) => sum + (/[mwW…]/.test(letter) ? 10 : 4), 0);

test.each([
  { name: "build", width: 20, drawn: "build" },
  { name: "build", width: 19, drawn: "b…d" },
  { name: "wwwwww", width: 40, drawn: "ww…w" },
  { name: "desktop/linux64/build", width: 60, drawn: "deskto…/build" },
  { name: "xy", width: 0, drawn: "…" },
])("$name in $width px is drawn as $drawn", ({ name, width, drawn }) => {
  const fitted = fitText(name, width, measure);

  expect(fitted).toBe(drawn);
});

test("boxes have space for their names and a time, up to a limit", () => {
  const widthFor = (names: readonly string[]) => {
    const graph = madeUpGraph(
      "g",
      names.map((name) => [name] as const),
      {
        repository: "r",
        subject: "s",
        author: "a",
        rev: "main",
        createdAt: new Date(0),
      },
    );
    const { boxes } = boxesOf(graph.jobList, graph.edges, { name: measure, aside: measure });
    return new Set(boxes.map(({ width }) => width));
  };
  const long = "desktop/linux64-opt/build-with-symbols-and-signed";

  expect(widthFor(["a", "b"])).toEqual(new Set([212]));
  expect(widthFor(["a", long])).toEqual(
    new Set([Math.ceil(nameLeft + measure(long) + asideRoom(measure))]),
  );
  expect(widthFor(["w".repeat(128)])).toEqual(new Set([380]));
});
