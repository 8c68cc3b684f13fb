import { texts } from "../benchmarks/search.ts";

/** Every page of the granary keeps the selected project. */
export const granarySearch = texts("project");

export const granaryBuildsSearch = texts("project", "commit");
export type GranaryBuildsSearch = ReturnType<typeof granaryBuildsSearch>;

/** Filters the requests of a build: by source, by the reason for a delay, by a part of the key. */
export const granaryBuildSearch = texts("source", "because", "find");
export type GranaryBuildSearch = ReturnType<typeof granaryBuildSearch>;

export const commitIndexSearch = texts("project", "repository", "environment");
