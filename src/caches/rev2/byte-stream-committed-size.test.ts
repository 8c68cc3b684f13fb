import { expect, test } from "vitest";
import { committedSizeFor, resumesByBlobOffset } from "./byte-stream-committed-size.ts";

const tool = (toolName: string, toolVersion = "") => ({ toolName, toolVersion });

test.each([
  ["anyone, of a plain blob", "plain", undefined, "blob", "blob"],
  ["anyone", "zstd", undefined, "received", "received"],
  ["an unknown tool", "zstd", tool("pants", "2.20"), "received", "received"],
  ["Bazel before 5.3", "zstd", tool("bazel", "5.2.0"), "received", "received"],
  ["Bazel that says no version", "zstd", tool("bazel"), "received", "received"],
  ["Bazel 5.3", "zstd", tool("bazel", "5.3.0"), "received", "minus one"],
  ["Bazel 9", "zstd", tool("bazel", "release 9.0.0-pre"), "received", "minus one"],
  ["Buck2", "zstd", tool("buck2", "2025-01-01"), "received", "minus one"],
  ["Siso", "zstd", tool("Siso", "1.0"), "blob", "blob"],
] as const)("tells %s what it wants to hear", (_, packing, who, uploaded, wasHere) => {
  expect(committedSizeFor(packing, who, false)).toBe(uploaded);
  expect(committedSizeFor(packing, who, true)).toBe(wasHere);
});

test("goes on with packed uploads for Bazel alone", () => {
  expect(resumesByBlobOffset("plain", undefined)).toBe(true);
  expect(resumesByBlobOffset("zstd", tool("bazel", "7.0.0"))).toBe(true);
  expect(resumesByBlobOffset("zstd", tool("buck2"))).toBe(false);
  expect(resumesByBlobOffset("zstd", undefined)).toBe(false);
});
