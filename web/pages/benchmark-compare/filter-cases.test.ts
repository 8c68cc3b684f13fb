import { expect, test } from "vitest";
import { madeUpCase } from "../../dev/made-up-comparison.ts";
import { byChange, isShown, wordsOf } from "./filter-cases.ts";

const rxjs = madeUpCase({ benchmark: "rxjs", profile: "check" }, { change: 0.02, relevant: true });
const ajv = madeUpCase({ benchmark: "ajv", profile: "emit" }, { change: -0.3, relevant: false });
const zod = madeUpCase(
  { benchmark: "zod", profile: "emit" },
  { change: 0.05, relevant: false, verdict: "undecided" },
);

test("without filters, relevant rows are shown", () => {
  expect([rxjs, ajv, zod].filter((each) => isShown(each, {}))).toEqual([rxjs]);
});

test.each([
  [{ all: "yes" }, [rxjs, ajv, zod]],
  [{ all: "yes", profile: "emit" }, [ajv, zod]],
  [{ all: "yes", find: "AJ emit" }, [ajv]],
  [{ only: "undecided" }, [zod]],
  [{ only: "regressed", all: "yes" }, [rxjs]],
  [{ all: "yes", category: "secondary" }, []],
])("%j", (search, shown) => {
  expect([rxjs, ajv, zod].filter((each) => isShown(each, search))).toEqual(shown);
});

test("the largest change comes first, and a change from zero before all", () => {
  const fromNothing = madeUpCase({ benchmark: "new" }, { change: null });

  expect([rxjs, ajv, fromNothing, zod].toSorted(byChange)).toEqual([fromNothing, ajv, zod, rxjs]);
});

test("lists contain only existing words", () => {
  expect(wordsOf([rxjs, ajv, zod], "profile")).toEqual(["check", "emit"]);
});
