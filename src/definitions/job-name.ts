import { z } from "zod";

/**
 * A job's name: ASCII only, so that no two names look alike.
 *
 * It appears in addresses and in reasons; `/` groups jobs (`test/unit`).
 */
export const JobName = z
  .string()
  .min(1, "a job needs a name")
  .max(128, "a job's name has at most 128 characters")
  .refine(isJobName, {
    error: (issue) =>
      `"${shown(issue.input)}" is not a job's name: use letters A-Z a-z, digits, and . _ - with / between parts`,
  });

function isJobName(name: string): boolean {
  if (name === "__proto__") return false;
  const parts = name.split("/");
  return parts.every((part) => /^[A-Za-z0-9._-]+$/.test(part) && part !== "." && part !== "..");
}

/** Returns a name for messages: letters that look like others are shown as code points. */
function shown(name: unknown): string {
  return String(name)
    .slice(0, 140)
    .replace(/[^\x20-\x7e]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
}
