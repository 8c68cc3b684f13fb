import { expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { ApiFailure, ServerUnreachable } from "./api/api-failure.ts";
import { exitCodes } from "./exit-code.ts";
import { explainFailure } from "./explain-failure.ts";
import { ProblemsFound } from "./problems-found.ts";
import { paintFor } from "./terminal/paint.ts";
import { UsageError } from "./usage-error.ts";

const paint = paintFor(false);

test.each([
  { reason: new UsageError("u"), exitCode: exitCodes.usage },
  { reason: new ServerUnreachable("http://h", new Error("e")), exitCode: exitCodes.unreachable },
  { reason: new ApiFailure(404, "not_found", "n", []), exitCode: exitCodes.failed },
  { reason: new Fault("internal", "f"), exitCode: exitCodes.failed },
  { reason: new TypeError("a bug"), exitCode: exitCodes.failed },
])("$reason.name ends with exit code $exitCode", ({ reason, exitCode }) => {
  expect(explainFailure(reason, paint).exitCode).toBe(exitCode);
});

test("problems are shown in their text, and given to programs with their places", () => {
  const problem = { file: ".grange/a.yml", line: 2, column: 3, message: "unknown key" };

  const { lines, json } = explainFailure(
    new ProblemsFound("the definitions cannot be used", [problem], () => "version: 1\n  x: 1\n"),
    paint,
  );

  expect(lines).toEqual([
    "error: the definitions are invalid; they have a problem:",
    ".grange/a.yml:2:3: unknown key",
    "2 |   x: 1",
    "      ^",
  ]);
  expect(json.error).toMatchObject({ code: "invalid_argument", problems: [problem] });
});

test("without a server the way out is said", () => {
  const { lines } = explainFailure(new ServerUnreachable("http://h:1", undefined), paint);

  expect(lines.join("\n")).toMatch(/http:\/\/h:1[\s\S]*grange up/);
});
