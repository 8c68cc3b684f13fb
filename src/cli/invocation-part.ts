/** Parts of an invocation that a person may want by themselves, as its page has them on tabs. */
export const invocationParts = ["targets", "timing", "misses", "trace"] as const;
export type InvocationPart = (typeof invocationParts)[number];
