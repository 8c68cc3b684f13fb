import { z } from "zod";
import { problemOfPath } from "#cas/path-rules.ts";
import { messageOf } from "#core/fault.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import { compileGlobs } from "#git/glob.ts";

/** A path inside the job's directory: `/` between parts, not absolute, and not leading out. */
export const RelativePath = z
  .string()
  .min(1, "a path cannot be empty")
  .max(4_096)
  .transform(withoutDecoration)
  .refine(staysInside, { error: "must be a path inside the repository: no leading /, no .." });

/** A pattern of paths, in the syntax of `#git/glob.ts`; a leading `!` leaves out what fits. */
export const InputGlob = z.string().superRefine((glob, context) => {
  const problem =
    glob.length > longestRemembered
      ? problemOfGlob(glob)
      : known.get(glob, () => problemOfGlob(glob));
  if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
});

/** Thousands of jobs share a few patterns. Checking them was half of the time that reading a job took. */
const known = recentlyUsed<string | undefined>(10_000);
const longestRemembered = 256;

function problemOfGlob(glob: string): string | undefined {
  try {
    compileGlobs([glob]);
    return undefined;
  } catch (reason) {
    return messageOf(reason);
  }
}

/** `./dist/` means `dist`. */
function withoutDecoration(path: string): string {
  return path.replace(/^(\.\/+)+/, "").replace(/\/+$/, path.startsWith("/") ? "/" : "");
}

function staysInside(path: string): boolean {
  return problemOfPath(path) === undefined;
}
