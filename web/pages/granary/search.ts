import { texts } from "../benchmarks/search.ts";

/** Every page of the granary keeps the project that is looked at. */
export const granarySearch = texts("project");

export const granaryBuildsSearch = texts("project", "commit");
export type GranaryBuildsSearch = ReturnType<typeof granaryBuildsSearch>;

/** Narrows what a build asked for: where it came from, why it was late, a part of its key. */
export const granaryBuildSearch = texts("source", "because", "find");
export type GranaryBuildSearch = ReturnType<typeof granaryBuildSearch>;

export const commitIndexSearch = texts("project", "repository", "environment");
