import { expect, test } from "vitest";
import { versionDate } from "./version-date.ts";

test.each([
  { version: "7.1.0-dev.20261021.1", day: "2026-10-21" },
  { version: "5.9.0-dev.20250522", day: "2025-05-22" },
  { version: "7.8.2", day: undefined },
  { version: "1.0.0-dev.20261399", day: undefined },
  { version: "1.0.0-dev.20260231", day: undefined },
  { version: "1.0.0-build.202610211", day: undefined },
])("$version is of $day", ({ version, day }) => {
  expect(versionDate(version)?.toISOString().slice(0, 10)).toBe(day);
});
