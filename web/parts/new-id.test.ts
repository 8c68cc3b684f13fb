import { expect, test } from "vitest";
import { z } from "zod";
import { newId } from "./new-id.ts";

test("ids are UUIDs, and no two are the same", () => {
  const ids = Array.from({ length: 100 }, newId);

  expect(ids.every((id) => z.uuidv4().safeParse(id).success)).toBe(true);
  expect(new Set(ids).size).toBe(100);
});
