import { expect, test } from "vitest";
import { Clearings } from "./clearings.ts";

function aClearing() {
  const done: string[] = [];
  const step = (name: string) => async () => {
    done.push(name);
    if (name === "fails") throw new Error("it is stuck");
  };
  return { done, clearing: { place: undefined, steps: [step("fails"), step("second")] } };
}

test("what an execution needed is taken down once its result is delivered, whatever fails of it", async () => {
  const clearings = new Clearings();
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

test("a result that failed to be delivered holds nothing up", async () => {
  const clearings = new Clearings();
  const { done, clearing } = aClearing();

  clearings.add(clearing, Promise.reject(new Error("the farm is away")));
  await clearings.over();

  expect(done).toEqual(["fails", "second"]);
});

test("while the farm does not answer, nothing piles up", async () => {
  const clearings = new Clearings();
  const { done, clearing } = aClearing();

  clearings.add(clearing, new Promise(() => {}));
  await clearings.over();

  expect(done).toEqual(["fails", "second"]);
});

test("who reports nothing is not waited for", async () => {
  const clearings = new Clearings();
  const { done, clearing } = aClearing();

  clearings.add(clearing, undefined);

  expect(done).toEqual(["fails"]);
  await clearings.over();
});
