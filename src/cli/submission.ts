import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { SubmittedGraph } from "#api/graph.ts";
import type { GraphPreview } from "#api/preview.ts";
import type { SubmitGraph } from "#api/submit-graph.ts";
import type { ApiClient } from "./api/api-client.ts";
import { ApiFailure } from "./api/api-failure.ts";
import { checkoutRoot, commitOf, fileAt } from "./checkout.ts";
import { readDefinitionsFolder } from "./definitions-folder.ts";
import { parametersOf } from "./parameters.ts";
import { ProblemsFound } from "./problems-found.ts";
import { switchesOf } from "./switches.ts";

export interface SubmissionOptions {
  readonly repo?: string;
  readonly rev?: string;
  readonly definitions?: string;
  readonly param?: readonly string[];
  readonly switch?: readonly string[];
  readonly graph?: string;
  readonly select?: string;
  readonly catalog?: string;
  readonly branch?: string;
  readonly cache?: boolean;
  readonly priority?: number;
  readonly top?: boolean;
  readonly ttl?: string;
  readonly set?: string;
}

/** A request for a graph, and the place where the texts of its definitions can be read. */
export interface Submission {
  readonly request: SubmitGraph;
  /** The checkout on this machine, if the repository is one. */
  readonly root: string | undefined;
}

/** Returns the submission for the options: paths become absolute, definitions are read. */
export async function submissionOf(
  options: SubmissionOptions,
  directory: string,
): Promise<Submission> {
  const repository = options.repo ?? ".";
  const isPath = existsSync(resolve(directory, repository));
  const path = isPath ? resolve(directory, repository) : undefined;
  const root = path === undefined ? undefined : ((await checkoutRoot(path)) ?? path);
  return {
    root,
    request: {
      repository: root ?? repository,
      rev: options.rev ?? "HEAD",
      parameters: parametersOf(options.param ?? []),
      switches: switchesOf(options.switch ?? []),
      ...(options.graph === undefined ? {} : { graph: options.graph }),
      ...(options.select === undefined ? {} : { select: options.select }),
      ...(options.catalog === undefined ? {} : { catalog: options.catalog }),
      ...(options.branch === undefined ? {} : { branch: options.branch }),
      skipCache: options.cache === false,
      ...(options.priority === undefined ? {} : { priority: options.priority }),
      ...(options.top === undefined ? {} : { top: options.top }),
      ...(options.set === undefined ? {} : { set: options.set }),
      ...(options.ttl === undefined ? {} : { ttl: options.ttl }),
      ...(options.definitions === undefined
        ? {}
        : { definitions: await readDefinitionsFolder(resolve(directory, options.definitions)) }),
    },
  };
}

/** Submits; problems of the definitions are shown in their own text. */
export function submit(api: ApiClient, submission: Submission): Promise<SubmittedGraph> {
  return withTexts(submission, async () => {
    const { graphEndpoints } = await import("#api/endpoints/graph-endpoints.ts");
    // With an id, the request may be sent again when its answer is lost.
    const body = { id: randomUUID(), ...submission.request };
    return api.call(graphEndpoints.submitGraph, { body });
  });
}

/** Returns a preview of the submission. */
export function preview(api: ApiClient, submission: Submission): Promise<GraphPreview> {
  const { request } = submission;
  return withTexts(submission, async () => {
    const { catalogEndpoints } = await import("#api/endpoints/catalog-endpoints.ts");
    return api.call(catalogEndpoints.previewGraph, { body: request });
  });
}

async function withTexts<Answer>(
  submission: Submission,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof ApiFailure) || cause.problems.length === 0) throw cause;
    const texts = new Map<string, string>();
    for (const { file } of cause.problems) {
      const text = await textOf(submission, file);
      if (text !== undefined) texts.set(file, text);
    }
    throw new ProblemsFound(cause.message, cause.problems, (file) => texts.get(file));
  }
}

async function textOf({ request, root }: Submission, file: string): Promise<string | undefined> {
  const name = file.slice(file.lastIndexOf("/") + 1);
  if (request.definitions !== undefined)
    return request.definitions[file] ?? request.definitions[name];
  if (root === undefined) return undefined;
  const commit = await commitOf(root, request.rev ?? "HEAD");
  return commit === undefined ? undefined : await fileAt(root, commit, file);
}
