import { expect, test } from "vitest";
import { ExecutionCleanups } from "./execution-cleanups.ts";

function aClearing() {
  const done: string[] = [];
  const step = (name: string) => async () => {
    done.push(name);
    if (name === "fails") throw new Error("it is stuck");
  };
  return { done, clearing: { place: undefined, steps: [step("fails"), step("second")] } };
}

test("cleans up after a result is delivered, even if one step fails", async () => {
  const clearings = new ExecutionCleanups();
  const { done, clearing } = aClearing();
  let tell = () => {};
  const reported = new Promise<void>((resolve) => (tell = resolve));

  clearings.add(clearing, reported);
  await Promise.resolve();
  expect(done).toEqual([]);
  tell();
  await clearings.over();

  expect(done).toEqual(["fails", "second"]);
});

test("a result that could not be delivered delays nothing", async () => {
  const clearings = new ExecutionCleanups();
  const { done, clearing } = aClearing();

  clearings.add(clearing, Promise.reject(new Error("the farm is away")));
  await clearings.over();

  expect(done).toEqual(["fails", "second"]);
});

test("while the farm does not answer, nothing accumulates", async () => {
  const clearings = new ExecutionCleanups();
  const { done, clearing } = aClearing();

  clearings.add(clearing, new Promise(() => {}));
  await clearings.over();

  expect(done).toEqual(["fails", "second"]);
});

test("an execution without a report does not wait", async () => {
  const clearings = new ExecutionCleanups();
  const { done, clearing } = aClearing();

  clearings.add(clearing, undefined);

  expect(done).toEqual(["fails"]);
  await clearings.over();
});
