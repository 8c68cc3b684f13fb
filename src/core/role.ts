import { z } from "zod";

/** The name of a role: a named set of verbs. */
export const RoleName = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,31}$/,
    "a role's name has lower-case letters, digits and -, at most 32",
  );

/** A role as a grant writes it, in place of a verb: `role:viewer`. */
export const RoleVerb = z.templateLiteral(["role:", RoleName]);
export type RoleVerb = `role:${string}`;
