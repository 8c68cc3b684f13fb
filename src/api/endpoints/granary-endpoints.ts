import { z } from "zod";
import { rightAt, rightOnFarm } from "#core/right.ts";
import { endpoint, json } from "../endpoint.ts";
import {
  CommitId,
  CommitIndexes,
  CommitIndexPage,
  EnvironmentName,
  GranaryBuildReport,
  GranaryBuilds,
  Quarantine,
  ReleaseResult,
  Savings,
} from "../granary.ts";

const Project = z.string().min(1).max(200).default("default");
const Limit = z.coerce.number().int().min(1).max(200).default(50);

/** Builds that granaries reported, indexes of commits, and results in quarantine. `project` is `default` everywhere. */
export const granaryEndpoints = {
  granaryBuilds: endpoint({
    method: "GET",
    path: "/granary/builds",
    right: rightAt("project", "read"),
    mayLag: true,
    summary:
      "Builds that granaries reported, the last that ended first. `after` is the `next` of the previous page; `limit` defaults to 50, at most 200.",
    query: z.object({
      project: Project,
      repository: z.string().max(200).optional(),
      commit: CommitId.optional(),
      limit: Limit,
      after: z.uuid().optional(),
    }),
    answer: json(GranaryBuilds),
  }),
  granaryBuild: endpoint({
    method: "GET",
    path: "/granary/builds/:build",
    right: rightAt("build", "read"),
    mayLag: true,
    summary:
      "The results that a build requested, the source of each, and why it was late or missing.",
    answer: json(GranaryBuildReport),
  }),
  granarySavings: endpoint({
    method: "GET",
    path: "/granary/savings",
    right: rightAt("project", "read"),
    mayLag: true,
    summary:
      "For each day in UTC, the results that builds requested, hit, waited for, and the saved time; days without builds are omitted. `days` is 30, at most 90.",
    query: z.object({
      project: Project,
      days: z.coerce.number().int().min(1).max(90).default(30),
    }),
    answer: json(Savings),
  }),
  commitIndexes: endpoint({
    method: "GET",
    path: "/granary/indexes",
    right: rightAt("project", "read"),
    mayLag: true,
    summary: "Indexes of commits, the last changed first. `limit` is 50, at most 200.",
    query: z.object({ project: Project, limit: Limit }),
    answer: json(CommitIndexes),
  }),
  commitIndex: endpoint({
    method: "GET",
    path: "/granary/index",
    right: rightAt("project", "read"),
    summary:
      "An index with 200 of its results in order of first use, starting at number `from`, and whether the farm still has all blobs of each. Without `environment`, the index that changed last. 404 also if blobs of the index are missing.",
    query: z.object({
      project: Project,
      repository: z.string().max(200).default(""),
      commit: CommitId,
      environment: EnvironmentName.optional(),
      from: z.coerce.number().int().min(0).max(1_000_000).default(0),
    }),
    answer: json(CommitIndexPage),
  }),
  granaryQuarantine: endpoint({
    method: "GET",
    path: "/granary/quarantine",
    right: rightAt("project", "read"),
    summary:
      "The last 100 results that differed when they were made again, with their writers and those of the last 200 builds that received them.",
    query: z.object({ project: Project }),
    answer: json(Quarantine),
  }),
  releaseGranaryResult: endpoint({
    method: "POST",
    path: "/granary/quarantine/release",
    right: rightOnFarm("administer"),
    summary:
      "Releases a result: the stored one is deleted, and the next build makes it again. 404 if it is not in quarantine.",
    body: ReleaseResult,
    answer: json(Quarantine),
  }),
  quarantineMadeFrom: endpoint({
    method: "POST",
    path: "/granary/quarantine/made-from",
    right: rightOnFarm("administer"),
    summary:
      "Also quarantines results that builds made after they had received this one (at most 2,000, from the last 200 builds). They are released with it. 404 if it is not in quarantine.",
    body: ReleaseResult,
    answer: json(Quarantine),
  }),
} as const;
