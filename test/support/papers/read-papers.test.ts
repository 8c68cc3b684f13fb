import { expect, test } from "vitest";
import { readPapers } from "./read-papers.ts";

const text = `
| paper | sentences | with tests | open |
|---|---|---|---|
| L: LWR | 2 | 1 | 1 |

| number | the paper asks | tests | where |
|---|---|---|---|
| L-1 | sets of graphs | \`src/a.test.ts\` "joins a set"<br>\`src/b.test.ts\` "leaves it" | \`grange set\`, page \`/sets/SET\` |
| L-2 | Windows | open: no machine has it | [workers.md](workers.md) |
| L-3 | no test is named |  | \`grange set\` |
`;

test("rows of tables are parsed, and invalid rows are reported", () => {
  const { entries, totals, unread } = readPapers(text);

  expect(totals).toEqual([{ paper: "L", sentences: 2, withTests: 1, open: 1 }]);
  expect(entries).toMatchObject([
    {
      name: "L-1",
      paper: "L",
      number: 1,
      shownBy: {
        kind: "tests",
        tests: [
          { file: "src/a.test.ts", part: "joins a set" },
          { file: "src/b.test.ts", part: "leaves it" },
        ],
      },
      places: ["grange set", "/sets/SET"],
      hasDocument: false,
    },
    {
      name: "L-2",
      shownBy: { kind: "open", reason: "no machine has it" },
      places: [],
      hasDocument: true,
    },
  ]);
  expect(unread).toEqual([expect.stringContaining("L-3")]);
});
