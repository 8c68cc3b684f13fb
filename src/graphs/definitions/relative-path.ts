import { z } from "zod";
import { problemOfPath } from "#cas/path-rules.ts";
import { messageOf } from "#core/fault.ts";
import { compileGlobs } from "#git/glob.ts";

/** A path inside the job's directory: `/` between parts, nothing absolute, no way out. */
export const RelativePath = z
  .string()
  .min(1, "a path cannot be empty")
  .max(4_096)
  .transform(withoutDecoration)
  .refine(staysInside, { error: "must be a path inside the repository: no leading /, no .." });

/** A pattern of paths, in the syntax of `#git/glob.ts`; a leading `!` leaves out what fits. */
export const InputGlob = z.string().superRefine((glob, context) => {
  try {
    compileGlobs([glob]);
  } catch (reason) {
    context.addIssue({ code: "custom", message: messageOf(reason) });
  }
});

/** `./dist/` means `dist`. */
function withoutDecoration(path: string): string {
  return path.replace(/^(\.\/+)+/, "").replace(/\/+$/, path.startsWith("/") ? "/" : "");
}

function staysInside(path: string): boolean {
  return problemOfPath(path) === undefined;
}
