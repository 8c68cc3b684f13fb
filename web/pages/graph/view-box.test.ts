import { expect, test } from "vitest";
import { fit, reveal, zoom } from "./view-box.ts";

const screen = { width: 1_000, height: 600 };

test("a small drawing is shown at its own size, in the middle", () => {
  expect(fit({ width: 200, height: 100 }, screen)).toEqual({ scale: 1, x: 400, y: 250 });
});

test("a huge drawing stays readable and shows its beginning", () => {
  expect(fit({ width: 100_000, height: 100_000 }, screen)).toEqual({ scale: 0.35, x: 24, y: 24 });
});

test("zooming keeps the point under the pointer", () => {
  const at = { x: 300, y: 200 };
  const before = { x: 10, y: 20, scale: 1 };
  const after = zoom(before, 1.5, at);

  expect((at.x - after.x) / after.scale).toBeCloseTo((at.x - before.x) / before.scale);
  expect((at.y - after.y) / after.scale).toBeCloseTo((at.y - before.y) / before.scale);
});

test("visible content does not move, and other content moves to the middle", () => {
  const view = { x: 0, y: 0, scale: 1 };

  expect(reveal(view, { x: 500, y: 300 }, screen)).toEqual(view);
  expect(reveal(view, { x: 5_000, y: 300 }, screen)).toEqual({ x: -4_500, y: 0, scale: 1 });
});
